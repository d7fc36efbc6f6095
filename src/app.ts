import type { Logger } from 'pino';
import { identifierOf } from './callers/identity.ts';
import { callersIn } from './callers/settings.ts';
import { schemaOf } from './graphql/schema.ts';
import { createLogHash } from './observability/logger.ts';
import { createMetrics } from './observability/metrics.ts';
import { openTracing } from './observability/tracing.ts';
import { startEventLoopMonitor } from './runtime/event-loop.ts';
import { createServer, GRAPHQL_PATH, type ServerOptions } from './server/server.ts';
import { type Config, quotaOf, slicesOn } from './settings/variables.ts';
import type { Slice } from './slice.ts';
import { SLICES } from './slices.ts';
import { openUpstreams } from './upstream/client.ts';

export type App = Awaited<ReturnType<typeof createApp>>;

interface Options extends Pick<ServerOptions, 'plugins'> {
  /** The slices to start if they have accounts. */
  readonly slices?: readonly Slice[];
  readonly maxDelayMs?: number | undefined;
}

/** Puts the subgraph together and starts it. Rejects, with nothing left running, if an address cannot be listened on. */
export async function createApp(config: Config, log: Logger, options: Options = {}) {
  const slices = slicesOn(config, options.slices ?? SLICES);
  const names = slices.map(({ name }) => name);
  const metrics = createMetrics(names);
  const callers = callersIn(config);
  /** The stop functions of all parts in the order of their start, called from the last to the first. */
  const closers: (() => unknown)[] = [];
  const stop = async () => {
    for (let close = closers.pop(); close; close = closers.pop()) await close();
  };
  try {
    // Live mode does not load the code of sandbox mode.
    const { startSandbox } = config.upstreamMode === 'sandbox' ? await import('./sandbox/server.ts') : {};
    const sandbox = await startSandbox?.({ host: config.host, port: config.sandboxPort });
    if (sandbox) closers.push(sandbox.stop);
    /** The settings of slices: the operator's; in sandbox mode with the sandbox's accounts and keys. */
    const settings: Config = { ...config, ...sandbox?.settingsFor(config) };
    const tracing = await openTracing({ ...config, log, metrics });
    closers.push(() => tracing?.stop());
    const logHash = createLogHash(config.logHashKey);
    const telemetry = { log, logSample: config.logSample, metrics, logHash, tracing };
    const eventLoop = startEventLoopMonitor(options.maxDelayMs);
    closers.push(eventLoop.stop);
    metrics.watchEventLoop(eventLoop.measuredLagMs);
    const upstreams = await openUpstreams({ settings: config, callers, log, metrics, eventLoop });
    closers.push(upstreams.close);
    // Waits, once the calls are closed, for the log line of each operation: its calls may have been billed.
    let settle = (): Promise<unknown> => Promise.resolve();
    closers.push(() => settle());
    const running = new Map(
      slices.map((slice) => {
        const shared = upstreams.optionsOf(slice.name, quotaOf(slice, config));
        const started = slice.start({ settings, shared, registry: metrics.registry, callers });
        closers.push(() => started.upstream.close());
        return [slice.name, started];
      }),
    );
    const runningSlices = [...running.values()];
    const pages = sandbox && (await import('./explorer.ts'));
    const server = await createServer(schemaOf(slices), {
      ...config,
      plugins: options.plugins,
      callers,
      identify: identifierOf(config, sandbox !== undefined),
      slices: running,
      telemetry,
      eventLoop,
      explorer: sandbox && pages?.createPages(GRAPHQL_PATH, sandbox.challengeUrl, names),
      isUpstreamReady: () => runningSlices.every(({ upstream }) => upstream.health.isReady),
      jwks: runningSlices.map(({ jwks }) => jwks).find((keys) => keys !== undefined),
    });
    settle = server.settle;
    closers.push(server.stop);
    const urls = await server.listen();
    const ready = Promise.all(runningSlices.map(({ upstream }) => upstream.health.start())).then(() =>
      log.info({ url: urls.graphqlUrl, upstreams: config.upstreamMode }, 'ready'),
    );
    const examples =
      sandbox && pages ? pages.exampleCommands(urls.graphqlUrl, sandbox.challengeUrl, names, config) : '';
    return { ...urls, sandboxUrls: sandbox?.urls, registry: metrics.registry, slices, examples, ready, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
