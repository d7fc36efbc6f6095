import type { CodegenConfig } from '@graphql-codegen/cli';
import { GraphQLSchema, printSchema, specifiedDirectives } from 'graphql';
import type { Slice } from './src/slice.ts';
import { SLICES } from './src/slices.ts';
import { schemaOf } from './src/subgraph.ts';

/** The schema of these slices for code generators, which know no directive of federation. */
export function clientSdl(slices: readonly Slice[]): string {
  const { types, ...root } = schemaOf(slices).toConfig();
  const ofClients = types.filter((type) => !/^(federation|link)__/.test(type.name));
  return printSchema(new GraphQLSchema({ ...root, types: ofClients, directives: specifiedDirectives }));
}

const clientSchema = (name: string, slices: readonly Slice[]): CodegenConfig['generates'] => ({
  [`schema/clients/${name}.graphql`]: { schema: clientSdl(slices), plugins: ['schema-ast'] },
});

/** Types of our schema, and the schema for clients. `test/supergraph/codegen.ts` has the types of the two example pages. */
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
    ...clientSchema('both', SLICES),
    ...Object.assign({}, ...SLICES.map((slice) => clientSchema(slice.name, [slice]))),
  },
};

// graphql-codegen reads its configuration from the default export.
export default config;
