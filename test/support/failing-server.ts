import { gql } from 'graphql-tag';
import { pino } from 'pino';
import type { Capabilities } from '../../src/graphql/context.ts';
import { buildSchema } from '../../src/graphql/schema.ts';
import { LOGGER_OPTIONS } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { createTokenHash } from '../../src/observability/token-hash.ts';
import { type GraphqlEngine, startEngine } from '../../src/server/apollo.ts';
import { createGate } from '../../src/server/callers.ts';
import { GRAPHQL_PATH, listen } from '../../src/server/listener.ts';
import { DEFAULTS } from './app.ts';

const typeDefs = gql`
  type Query { mistake(token: String): String }
  type Thing @key(fields: "id") { id: ID! }
`;
const resolvers = {
  Query: {
    mistake: (_root: unknown, { token }: { token: string }) => {
      throw new TypeError(`a mistake with ${token}`);
    },
  },
  Thing: { __resolveReference: async () => null },
};
const unexpected = async () => {
  throw new Error('expected no upstream call');
};

/** The server with another schema, whose field `mistake` throws an error that quotes its argument. */
export async function startFailingServer(): Promise<{
  graphqlUrl: string;
  engine: GraphqlEngine;
  logged: () => string;
  stop: () => Promise<void>;
}> {
  const lines: string[] = [];
  const log = pino(LOGGER_OPTIONS, { write: (line: string) => lines.push(line) });
  const { limits } = DEFAULTS;
  const engine = await startEngine(buildSchema(1, [{ typeDefs, resolvers }]), log, {
    explorable: false,
    traceable: false,
    limits,
  });
  const capabilities: Capabilities = {
    limits,
    applicationFor: () => undefined,
    queryFingerprint: unexpected,
    validateCaptcha: unexpected,
  };
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    maxConnections: 100,
    engine,
    capabilities,
    maxBodyBytes: limits.bodyBytes,
    gate: createGate([]),
    pressure: { isTooHigh: () => false },
    shutdownGraceMs: 0,
    explorable: false,
    telemetry: { log, metrics: createMetrics(), hashToken: createTokenHash(), tracing: undefined },
  });
  return {
    graphqlUrl: listener.url + GRAPHQL_PATH,
    engine,
    logged: () => lines.join(''),
    stop: async () => {
      await listener.stop();
      await engine.apollo.stop();
    },
  };
}
