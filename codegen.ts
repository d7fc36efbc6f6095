import type { CodegenConfig } from '@graphql-codegen/cli';
import { parse, print, visit } from 'graphql';
import { deskSdl, shopSdl } from './test/supergraph/public-schema.ts';

const scalars = { DateTime: 'string', JSONObject: 'Record<string, unknown>' };

/** Types of what a page in `test/supergraph/` asks, from the schema that its gateway shows: of its texts, none is repeated. */
function page(folder: string, sdl: string): CodegenConfig['generates'] {
  const withoutTexts = visit(parse(sdl), {
    enter: (node) => ('description' in node ? { ...node, description: undefined } : undefined),
  });
  return {
    [`test/supergraph/${folder}/generated/`]: {
      schema: print(withoutTexts),
      documents: `test/supergraph/${folder}/operations.ts`,
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: { strictScalars: true, scalars, enumsAsTypes: true, useTypeImports: true, importExtension: '.ts' },
    },
  };
}

const config: CodegenConfig = {
  generates: {
    'src/schema.generated.ts': {
      schema: 'schema/*.graphql',
      plugins: ['typescript', 'typescript-resolvers'],
      config: {
        federation: true,
        // What codegen must not do is guess: an unknown scalar is an error. It knows nothing of our sources either.
        strictScalars: true,
        scalars: { _FieldSet: 'string', ...scalars },
        useIndexSignature: true,
        enumsAsTypes: true,
        useTypeImports: true,
        // The parent of their resolvers is a whole judgement, never a bare reference.
        mappers: { DeviceFingerprint: 'DeviceFingerprint', DeviceJudgement: 'DeviceJudgement' },
        resolversNonOptionalTypename: { unionMember: true, interfaceImplementingType: true },
      },
    },
    // The two pages of the test's supergraph: types of their documents, from what their gateways show them.
    ...page('shop', shopSdl()),
    ...page('desk', deskSdl()),
  },
};

// graphql-codegen reads its configuration from the default export.
export default config;
