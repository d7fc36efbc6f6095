import { gql } from 'graphql-tag';
import { pino } from 'pino';
import { limitsOf } from '../../src/app.ts';
import type { Capabilities } from '../../src/graphql/context.ts';
import { buildSchema } from '../../src/graphql/schema.ts';
import { LINE } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { createTokenHash } from '../../src/observability/token-hash.ts';
import { type GraphqlEngine, startEngine } from '../../src/server/apollo.ts';
import { createGate } from '../../src/server/callers.ts';
import { GRAPHQL_PATH, listen } from '../../src/server/listener.ts';
import { DEFAULTS } from '../support/app.ts';

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
const nothing = async () => {
  throw new Error('expected no capability to be asked for');
};

/** Our server over a schema with a mistake in it, which ours does not have: its field throws what quotes the caller. */
export async function startMistaken(): Promise<{
  graphqlUrl: string;
  engine: GraphqlEngine;
  logged: () => string;
  stop: () => Promise<void>;
}> {
  const lines: string[] = [];
  const log = pino(LINE, { write: (line: string) => lines.push(line) });
  const limits = limitsOf(DEFAULTS);
  const engine = await startEngine(buildSchema(1, [{ typeDefs, resolvers }]), log, {
    explorable: false,
    traceable: false,
    limits,
  });
  const capabilities: Capabilities = {
    limits,
    applicationFor: () => undefined,
    queryFingerprint: nothing,
    validateCaptcha: nothing,
  };
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    maxConnections: 100,
    engine,
    capabilities,
    maxBodyBytes: DEFAULTS.maxBodyBytes,
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
