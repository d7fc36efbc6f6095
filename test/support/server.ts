import type { GraphQLSchema } from 'graphql';
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

/** Starts the server on a free port, with the defaults of the configuration, over this schema. */
export async function startServer(schema: GraphQLSchema, overrides: Partial<ServerOptions> = {}): Promise<TestServer> {
  const { log, logged } = keepLog();
  const metrics = createMetrics(['fingerprint', 'captcha']);
  const server = await createServer(schema, {
    ...DEFAULTS,
    // So that an answer may have all its 8 MiB in one text.
    maxCost: 2 * DEFAULTS.maxCost,
    slices: new Map(),
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
