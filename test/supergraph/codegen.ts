import type { CodegenConfig } from '@graphql-codegen/cli';
import { parse, print, visit } from 'graphql';
import { shopSdl } from './public-schema.ts';

/** Types for the documents of the shop's page, from the schema that its gateway shows. Descriptions are left out. */
const schema = visit(parse(shopSdl()), {
  enter: (node) => ('description' in node ? { ...node, description: undefined } : undefined),
});

const config: CodegenConfig = {
  generates: {
    'test/supergraph/shop/generated/graphql.ts': {
      schema: print(schema),
      documents: 'test/supergraph/shop/operations.graphql',
      plugins: ['typescript-operations', 'typed-document-node'],
      config: {
        strictScalars: true,
        scalars: { DateTime: 'string', JSONObject: 'Record<string, unknown>' },
        enumsAsTypes: true,
        useTypeImports: true,
        importExtension: '.ts',
      },
    },
  },
};

// graphql-codegen reads its configuration from the default export.
export default config;
