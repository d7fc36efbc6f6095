import type { GraphQLSchema } from 'graphql';
import { identifierOf } from '../../src/callers/identity.ts';
import type { CallerSettings } from '../../src/callers/settings.ts';
import { callersIn } from '../../src/callers/settings.ts';
import { createLogHash } from '../../src/observability/logger.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { createServer, type ServerOptions } from '../../src/server/server.ts';
import { DEFAULTS, keepLog } from './app.ts';

/** Our server without our upstreams. Whoever starts one stops it. */
interface TestServer {
  readonly graphqlUrl: string;
  /** Every log line so far. */
  readonly logged: () => string;
  /** Its metrics as Prometheus reads them. */
  readonly readMetrics: () => Promise<string>;
  stop(): Promise<void>;
}

/** What a test says of the server, and of its callers. */
export type Overrides = Partial<ServerOptions & CallerSettings & { readonly trustsLoopback: boolean }>;

/** Starts the server on a free port, with the defaults of the configuration, over this schema. */
export async function startServer(schema: GraphQLSchema, overrides: Overrides = {}): Promise<TestServer> {
  const { log, logged } = keepLog();
  const metrics = createMetrics(['fingerprint', 'captcha']);
  const callerSettings = { ...DEFAULTS, ...overrides };
  const server = await createServer(schema, {
    ...DEFAULTS,
    // So that an answer may have all its 8 MiB in one text.
    maxCost: 2 * DEFAULTS.maxCost,
    slices: new Map(),
    callers: callersIn(callerSettings),
    identify: identifierOf(callerSettings, overrides.trustsLoopback),
    eventLoop: { isOverloaded: () => false, watch: () => () => {} },
    isUpstreamReady: () => true,
    telemetry: { log, logSample: 1, metrics, logHash: createLogHash(), tracing: undefined },
    ...overrides,
  });
  const { graphqlUrl } = await server.listen();
  return {
    graphqlUrl,
    logged,
    readMetrics: metrics.registry.render,
    stop: server.stop,
  };
}
