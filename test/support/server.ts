import type { GraphQLSchemaModule } from '@apollo/subgraph';
import { pino } from 'pino';
import { DEFAULT_POLICY, decide } from '../../src/fingerprint/policy.ts';
import { Judgements } from '../../src/fingerprint/sealed-judgement.ts';
import type { Capabilities } from '../../src/graphql/context.ts';
import { buildSchema } from '../../src/graphql/schema.ts';
import { LogHash, loggerOptions } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { createServer, GRAPHQL_PATH, type ServerOptions } from '../../src/server/server.ts';
import { DEFAULTS } from './app.ts';

/** Our server without our upstreams. Whoever starts one stops it. */
interface TestServer {
  readonly graphqlUrl: string;
  /** Every log line so far. */
  readonly logged: () => string;
  stop(): Promise<void>;
}

const refuse = async () => {
  throw new Error('expected an operation on another schema, but a capability of device trust was asked for');
};
const NO_CAPABILITIES: Capabilities = {
  fingerprintClient: { query: refuse },
  applications: { find: () => undefined },
  policyInUse: { forOperation: () => (device) => decide(DEFAULT_POLICY, device) },
  captchaClient: { validate: refuse },
  attestations: { check: () => undefined },
  judgements: new Judgements([], { recordJudgement: () => {} }),
  // So that an answer may have all its 8 MiB in one text.
  limits: { ...DEFAULTS, maxCost: 2 * DEFAULTS.maxCost },
};

/** Starts the server on a free port, with the defaults of the configuration, over a schema made of these modules or our own. */
export async function startServer(
  modules: GraphQLSchemaModule[] | undefined,
  overrides: Partial<ServerOptions> = {},
  capabilities = NO_CAPABILITIES,
): Promise<TestServer> {
  const lines: string[] = [];
  const log = pino(loggerOptions(), { write: (line: string) => lines.push(line) });
  const server = await createServer(buildSchema(modules), capabilities, {
    ...DEFAULTS,
    eventLoop: { isOverloaded: () => false },
    isUpstreamReady: () => true,
    telemetry: { log, logSample: 1, metrics: createMetrics(), logHash: new LogHash(undefined), tracing: undefined },
    ...overrides,
  });
  const url = await server.listen('127.0.0.1', 0);
  return { graphqlUrl: url + GRAPHQL_PATH, logged: () => lines.join(''), stop: server.stop };
}
