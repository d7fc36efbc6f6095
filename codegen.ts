import type { CodegenConfig } from '@graphql-codegen/cli';
import { GraphQLSchema, GraphQLString, isInputObjectType, printSchema, specifiedDirectives } from 'graphql';
import { schemaOf } from './src/graphql/schema.ts';
import type { Slice } from './src/slice.ts';
import { SLICES } from './src/slices.ts';

/** The schema of these slices for code generators, which know no directive of federation. */
export function clientSdl(slices: readonly Slice[]): string {
  const { types, ...root } = schemaOf(slices).toConfig();
  const ofClients = types.filter((type) => !/^(federation|link)__/.test(type.name));
  return printSchema(new GraphQLSchema({ ...root, types: ofClients, directives: specifiedDirectives }));
}

const clientSchema = (name: string, slices: readonly Slice[]): CodegenConfig['generates'] => ({
  [`schema/clients/${name}.graphql`]: { schema: clientSdl(slices), plugins: ['schema-ast'] },
});

const COMMON = {
  federation: true,
  // An unknown scalar is an error: codegen must not guess its type.
  strictScalars: true,
  scalars: { _FieldSet: 'string', DateTime: 'string', JSONObject: 'Record<string, unknown>' },
  useIndexSignature: true,
  enumsAsTypes: true,
  useTypeImports: true,
};

/** The parents of a slice's resolvers that are more than the graph shows, or less: a resolver adds the rest. */
const PARENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  fingerprint: {
    DeviceFingerprint: './outcome.ts#JudgedDevice',
    DeviceJudgement: './sealed-judgement.ts#KnownJudgement',
  },
};

/** The types of a slice's resolvers. They are in its folder, because their parents are. */
function resolverTypes(name: string): CodegenConfig['generates'] {
  const mappers = PARENTS[name] ?? {};
  // The plugin writes the names of entities without the namespace.
  const imports = ['* as Schema', `{ ${Object.keys(mappers).join(', ')} }`].map(
    (names) => `import type ${names} from '../schema.generated.ts';`,
  );
  const resolversNonOptionalTypename = { unionMember: true, interfaceImplementingType: true };
  return {
    [`src/${name}/resolvers.generated.ts`]: {
      schema: ['schema/schema.graphql', `schema/${name}.graphql`],
      plugins: [{ add: { content: imports } }, 'typescript-resolvers'],
      config: { ...COMMON, namespacedImportName: 'Schema', mappers, resolversNonOptionalTypename },
    },
  };
}

/** The metadata that has a field of its own, as values: a type alone is gone at run time. */
function metadataKeys(): string {
  const type = schemaOf(SLICES).getType('DeviceMetadataInput');
  const fields = isInputObjectType(type) ? Object.values(type.getFields()) : [];
  const keys = fields.filter((field) => field.type === GraphQLString).map(({ name }) => name);
  return `export const DEVICE_METADATA_KEYS = ${JSON.stringify(keys, null, 2)} as const;\n`;
}

/** Types of our schema, and the schema for clients. `test/supergraph/codegen.ts` has the types of the two example pages. */
const config: CodegenConfig = {
  generates: {
    'src/schema.generated.ts': {
      schema: 'schema/*.graphql',
      plugins: ['typescript', { add: { placement: 'append', content: metadataKeys() } }],
      config: COMMON,
    },
    ...Object.assign({}, ...SLICES.map(({ name }) => resolverTypes(name))),
    ...clientSchema('both', SLICES),
    ...Object.assign({}, ...SLICES.map((slice) => clientSchema(slice.name, [slice]))),
  },
};

// graphql-codegen reads its configuration from the default export.
export default config;
