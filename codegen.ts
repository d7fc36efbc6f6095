import type { CodegenConfig } from '@graphql-codegen/cli';

/** Types of our schema. `test/supergraph/codegen.ts` has those of the two example pages. */
const config: CodegenConfig = {
  generates: {
    'src/schema.generated.ts': {
      schema: 'schema/*.graphql',
      plugins: ['typescript', 'typescript-resolvers'],
      config: {
        federation: true,
        // An unknown scalar is an error: codegen must not guess its type.
        strictScalars: true,
        scalars: { _FieldSet: 'string', DateTime: 'string', JSONObject: 'Record<string, unknown>' },
        useIndexSignature: true,
        enumsAsTypes: true,
        useTypeImports: true,
        // The parent of their resolvers is a whole judgement, never a bare reference.
        mappers: { DeviceFingerprint: 'DeviceFingerprint', DeviceJudgement: 'DeviceJudgement' },
        resolversNonOptionalTypename: { unionMember: true, interfaceImplementingType: true },
      },
    },
  },
};

// graphql-codegen reads its configuration from the default export.
export default config;
