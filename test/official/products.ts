import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gql } from 'graphql-tag';
import type { Logger } from 'pino';
import { limitsOf } from '../../src/app.ts';
import { parseConfig } from '../../src/config/parser.ts';
import type { Capabilities } from '../../src/graphql/context.ts';
import { buildSchema } from '../../src/graphql/schema.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { createTokenHash } from '../../src/observability/token-hash.ts';
import { startEngine } from '../../src/server/apollo.ts';
import { createGate } from '../../src/server/callers.ts';
import { GRAPHQL_PATH, listen } from '../../src/server/listener.ts';

/**
 * The subgraph that the compatibility suite asks everyone to implement, on our server: our schema builder with what it
 * does to `_entities`, our Apollo Server, our listener. The SDL comes from the suite itself, so the two can't drift apart.
 */

const SDL = createRequire(import.meta.url).resolve('@apollo/federation-subgraph-compatibility-tests/products.graphql');

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

const notOurs = async () => {
  throw new Error('expected an operation on products, but a capability of device trust was asked for');
};
const CONFIG = parseConfig({ UPSTREAM_MODE: 'sandbox' }, () => '');
const LIMITS = limitsOf(CONFIG);
const NOTHING: Capabilities = {
  queryFingerprint: notOurs,
  applicationFor: () => undefined,
  validateCaptcha: notOurs,
  limits: LIMITS,
};

/** Starts it as in live mode, on a free port, for a router with this secret. Whoever starts it stops it. */
export async function startProducts(log: Logger): Promise<{ graphqlUrl: string; stop: () => Promise<void> }> {
  const explorable = false;
  const schema = buildSchema(CONFIG.maxRepresentations, [{ typeDefs: gql(readFileSync(SDL, 'utf8')), resolvers }]);
  const engine = await startEngine(schema, log, { explorable, traceable: true, limits: LIMITS });
  const gate = createGate([ROUTER_SECRET]);
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    maxConnections: 100,
    engine,
    capabilities: NOTHING,
    maxBodyBytes: CONFIG.maxBodyBytes,
    gate,
    pressure: { isTooHigh: () => false },
    shutdownGraceMs: 0,
    explorable,
    telemetry: { log, metrics: createMetrics(), hashToken: createTokenHash(), tracing: undefined },
  });
  return {
    graphqlUrl: listener.url + GRAPHQL_PATH,
    stop: async () => {
      await listener.stop();
      await engine.apollo.stop();
    },
  };
}
