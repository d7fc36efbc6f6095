import type { CodegenConfig } from '@graphql-codegen/cli';
import { parse, print, visit } from 'graphql';
import { deskSdl, shopSdl } from './public-schema.ts';

/** Types for the documents of a page, from the schema that its gateway shows. Descriptions are left out. */
function page(folder: string, sdl: string): CodegenConfig['generates'] {
  const withoutTexts = visit(parse(sdl), {
    enter: (node) => ('description' in node ? { ...node, description: undefined } : undefined),
  });
  return {
    [`test/supergraph/${folder}/generated/graphql.ts`]: {
      schema: print(withoutTexts),
      documents: `test/supergraph/${folder}/operations.graphql`,
      plugins: ['typescript-operations', 'typed-document-node'],
      config: {
        strictScalars: true,
        scalars: { DateTime: 'string', JSONObject: 'Record<string, unknown>' },
        enumsAsTypes: true,
        useTypeImports: true,
        importExtension: '.ts',
      },
    },
  };
}

const config: CodegenConfig = { generates: { ...page('shop', shopSdl()), ...page('desk', deskSdl()) } };

// graphql-codegen reads its configuration from the default export.
export default config;
