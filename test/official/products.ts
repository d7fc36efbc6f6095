import { readFileSync } from 'node:fs';
import { gql } from 'graphql-tag';
import { startServer } from '../support/server.ts';
import { PRODUCTS_SDL } from './suite.ts';

/**
 * The subgraph that the compatibility suite asks everyone to implement, on our server, which includes what our schema builder
 * does to `_entities`. The SDL comes from the suite itself, so the two cannot differ.
 */

// The data that the suite's COMPATIBILITY.md prescribes.
const DIMENSIONS = { size: 'small', weight: 1, unit: 'kg' };
const USER = { email: 'support@apollographql.com', name: 'Jane Smith', totalProductsCreated: 1337 };
const DEPRECATED = {
  sku: 'apollo-federation-v1',
  package: '@apollo/federation-v1',
  reason: 'Migrate to Federation V2',
  createdBy: USER,
};
const FEDERATION_STUDY = { study: { caseNumber: '1234', description: 'Federation Study' } };
const STUDIO_STUDY = { study: { caseNumber: '1235', description: 'Studio Study' } };
const COMMON = { dimensions: DIMENSIONS, createdBy: USER };
const PRODUCTS = [
  {
    ...COMMON,
    id: 'apollo-federation',
    sku: 'federation',
    package: '@apollo/federation',
    variation: { id: 'OSS' },
    research: [FEDERATION_STUDY],
  },
  {
    ...COMMON,
    id: 'apollo-studio',
    sku: 'studio',
    package: '',
    variation: { id: 'platform' },
    research: [STUDIO_STUDY],
  },
];

type Product = (typeof PRODUCTS)[number];
/** One of the three keys. */
type ProductKey = Pick<Product, 'id'> | Pick<Product, 'sku' | 'package'> | Pick<Product, 'sku' | 'variation'>;

function findProduct(key: ProductKey): Product | undefined {
  if ('id' in key) return PRODUCTS.find(({ id }) => id === key.id);
  const ofSku = PRODUCTS.filter(({ sku }) => sku === key.sku);
  if ('package' in key) return ofSku.find((product) => product.package === key.package);
  return ofSku.find(({ variation }) => variation.id === key.variation.id);
}

function findDeprecated(key: Pick<typeof DEPRECATED, 'sku' | 'package'>) {
  return key.sku === DEPRECATED.sku && key.package === DEPRECATED.package ? DEPRECATED : undefined;
}

/** What comes along with a reference to a user because of `@requires`. */
interface UserReference {
  readonly email: string;
  readonly totalProductsCreated?: number;
  readonly yearsOfEmployment?: number;
}

const resolvers = {
  Query: {
    product: (_root: unknown, key: Pick<Product, 'id'>) => findProduct(key),
    deprecatedProduct: (_root: unknown, key: Pick<typeof DEPRECATED, 'sku' | 'package'>) => findDeprecated(key),
  },
  Product: { __resolveReference: async (key: ProductKey) => findProduct(key) },
  DeprecatedProduct: { __resolveReference: async (key: typeof DEPRECATED) => findDeprecated(key) },
  ProductResearch: {
    __resolveReference: async ({ study }: typeof FEDERATION_STUDY) =>
      [FEDERATION_STUDY, STUDIO_STUDY].find((row) => row.study.caseNumber === study.caseNumber),
  },
  User: {
    __resolveReference: async (reference: UserReference) =>
      reference.email === USER.email ? { ...USER, ...reference } : undefined,
    averageProductsCreatedPerYear: ({ totalProductsCreated, yearsOfEmployment }: UserReference) =>
      totalProductsCreated && yearsOfEmployment ? Math.round(totalProductsCreated / yearsOfEmployment) : null,
  },
  Inventory: {
    __resolveReference: async ({ id }: { id: string }) => ({ id }),
    deprecatedProducts: () => [DEPRECATED],
  },
};

/** What a router has to send. */
export const ROUTER_SECRET = 'secret-of-the-router';

/** Starts it as in live mode, on a free port, for a router with this secret. Whoever starts it stops it. */
export function startProducts(): ReturnType<typeof startServer> {
  return startServer([{ typeDefs: gql(readFileSync(PRODUCTS_SDL, 'utf8')), resolvers }], {
    routerSecrets: [ROUTER_SECRET],
  });
}
