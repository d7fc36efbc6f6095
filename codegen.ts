import type { CodegenConfig } from '@graphql-codegen/cli';

const config: CodegenConfig = {
  schema: 'schema/*.graphql',
  generates: {
    'src/graphql/types.generated.ts': {
      plugins: ['typescript', 'typescript-resolvers'],
      config: {
        federation: true,
        // Wire shapes and resolver parents are ours; what codegen must not do is guess: any unknown scalar is an error.
        strictScalars: true,
        scalars: { _FieldSet: 'string', DateTime: 'string', JSONObject: 'Record<string, unknown>' },
        useIndexSignature: true,
        enumsAsTypes: true,
        useTypeImports: true,
        contextType: './context.ts#GraphQLContext',
        mappers: { DeviceFingerprint: '../fingerprint/answer.ts#JudgedDevice' },
        resolversNonOptionalTypename: { unionMember: true, interfaceImplementingType: true },
      },
    },
  },
};

// graphql-codegen reads its configuration from the default export.
export default config;
