import type { Logger } from 'pino';
import { createCaptchaValidator, prepareCaptcha } from './captcha/client.ts';
import { causeOf, isCaptchaFault } from './captcha/verdict.ts';
import type { Config, LiveUpstreams, LoadLimits } from './config/config.ts';
import { type ExampleCommand, exampleCommands } from './explorer/examples.ts';
import { createFingerprintClient } from './fingerprint/client.ts';
import { countSignals } from './fingerprint/drift.ts';
import { isFingerprintFault } from './fingerprint/outcome.ts';
import { prepareApplication } from './fingerprint/request.ts';
import { buildSchema } from './graphql/schema.ts';
import { createMetrics } from './observability/metrics.ts';
import { createTokenHash, type HashToken } from './observability/token-hash.ts';
import { type EventLoopMonitor, startEventLoopMonitor } from './runtime/event-loop.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from './sandbox/accounts.ts';
import type { Sandbox } from './sandbox/server.ts';
import { startAdmin } from './server/admin.ts';
import { startEngine } from './server/apollo.ts';
import { createGate } from './server/callers.ts';
import { GRAPHQL_PATH, listen } from './server/listener.ts';
import type { Telemetry } from './server/operation-log.ts';
import { Accounts } from './upstream/accounts.ts';
import { createUpstreamClient, type UpstreamClient } from './upstream/client.ts';
import type { UpstreamResponse } from './upstream/transport.ts';

/** The running subgraph. */
export interface App {
  /** Scheme, host and port, without a trailing slash. */
  readonly url: string;
  readonly graphqlUrl: string;
  /** Where Prometheus reads. */
  readonly metricsUrl: string;
  /** Addresses of the embedded sandbox by region; undefined in live mode. */
  readonly sandboxUrls: Sandbox['urls'] | undefined;
  /** Commands that ask this app something and work; none in live mode. */
  readonly examples: readonly ExampleCommand[];
  /** Goes on with all the secrets of another configuration; what is under way keeps its own. */
  rotate(config: Config): void;
  /** Finishes what is under way and closes every socket. */
  stop(): Promise<void>;
}

/** Puts the subgraph together and starts it. Rejects, with nothing left running, if an address cannot be listened on. */
export async function createApp(config: Config, log: Logger): Promise<App> {
  const closers: (() => unknown)[] = [];
  const stop = async () => {
    for (let close = closers.pop(); close; close = closers.pop()) await close();
  };
  try {
    const { limits, load } = config;
    const { accounts, sandbox } = await openUpstreams(config.upstreams);
    if (sandbox) closers.push(sandbox.stop);
    let hashToken = createTokenHash(config.logHashKey);
    const telemetry = await startTelemetry(config.otlpEndpoint, log, (token) => hashToken(token));
    const { metrics, tracing } = telemetry;
    if (tracing) closers.push(tracing.stop);
    const admin = await startAdmin(config.host, config.adminPort, metrics);
    closers.push(admin.stop);
    const explorable = config.upstreams.mode === 'sandbox';
    const traceable = config.routerSecrets.length > 0;
    const engine = await startEngine(buildSchema(limits.representations), log, { explorable, traceable, limits });
    // After the schema is built, which takes long enough to look like an overload.
    const eventLoop = startEventLoopMonitor();
    closers.push(eventLoop.stop);
    // A client for each service: a crowd of slow calls to one must not starve the other.
    const upstreams = {
      fingerprint: openUpstream('fingerprint', isFingerprintFault, load, eventLoop, telemetry),
      captcha: openUpstream('captcha', isCaptchaFault, load, eventLoop, telemetry),
    };
    closers.push(upstreams.fingerprint.close, upstreams.captcha.close);
    closers.push(() => engine.apollo.stop());
    const applications = new Accounts(({ publicKey }) => publicKey, accounts.applications.map(prepareApplication));
    const captchas = new Accounts(({ captchaId }) => captchaId, accounts.captchas.map(prepareCaptcha));
    let gate = createGate(config.routerSecrets);
    const queryFingerprint = createFingerprintClient({
      upstream: upstreams.fingerprint,
      fingerprintTimeoutMs: config.fingerprintTimeoutMs,
      onOutcome: (outcome) => countSignals(outcome, metrics.recordSignal),
    });
    const validateCaptcha = createCaptchaValidator({
      upstream: upstreams.captcha,
      captchas,
      captchaTimeoutMs: config.captchaTimeoutMs,
      captchaFailOpen: config.captchaFailOpen,
      log,
      onVerdict: (verdict) =>
        metrics.recordVerdict({ type: verdict.__typename, cause: causeOf(verdict), proceed: verdict.proceed }),
    });
    const listener = await listen({
      host: config.host,
      port: config.port,
      maxConnections: load.connections,
      engine,
      capabilities: {
        limits,
        applicationFor: (publicKey) => applications.find(publicKey),
        queryFingerprint,
        validateCaptcha,
      },
      maxBodyBytes: limits.bodyBytes,
      gate: (presented) => gate(presented),
      pressure: { isTooHigh: () => eventLoop.isOverloaded(load.eventLoopDelayMs) },
      shutdownGraceMs: load.shutdownGraceMs,
      explorable,
      telemetry,
    });
    closers.push(listener.stop);
    const graphqlUrl = listener.url + GRAPHQL_PATH;
    const examples = sandbox
      ? exampleCommands(
          graphqlUrl,
          `${sandbox.urls.GLB}/sandbox/challenges?captcha_id=${SANDBOX_CAPTCHAS[0]?.captchaId}`,
        )
      : [];
    log.info({ url: graphqlUrl, upstreams: config.upstreams.mode }, 'ready');
    const { url } = listener;
    const rotate = (next: Config) => {
      if (next.upstreams.mode === 'live') {
        applications.replace(next.upstreams.applications.map(prepareApplication));
        captchas.replace(next.upstreams.captchas.map(prepareCaptcha));
      }
      gate = createGate(next.routerSecrets);
      if (next.logHashKey !== undefined) hashToken = createTokenHash(next.logHashKey);
      log.info('secrets rotated');
    };
    return { url, graphqlUrl, metricsUrl: admin.metricsUrl, sandboxUrls: sandbox?.urls, examples, rotate, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Traces need packages that are slow to load, so they are loaded only where traces are exported. */
async function startTelemetry(otlpEndpoint: string | undefined, log: Logger, hashToken: HashToken): Promise<Telemetry> {
  const tracing =
    otlpEndpoint === undefined ? undefined : (await import('./observability/tracing.ts')).startTracing(otlpEndpoint);
  return { log, metrics: createMetrics(), hashToken, tracing };
}

type ConfiguredAccounts = Pick<LiveUpstreams, 'applications' | 'captchas'>;

async function openUpstreams(
  upstreams: Config['upstreams'],
): Promise<{ accounts: ConfiguredAccounts; sandbox?: Sandbox }> {
  if (upstreams.mode === 'live') return { accounts: upstreams };
  // Loaded only where it serves.
  const { startSandbox } = await import('./sandbox/server.ts');
  const sandbox = await startSandbox({ host: '127.0.0.1', port: upstreams.port });
  const { urls } = sandbox;
  return {
    sandbox,
    accounts: {
      applications: SANDBOX_APPLICATIONS.map((row) => ({ ...row, baseUrl: urls[row.region] })),
      captchas: SANDBOX_CAPTCHAS.map((row) => ({ ...row, baseUrl: urls[row.region] })),
    },
  };
}

/** The client of one upstream service with its metrics. The log hears when a circuit breaker opens or closes. */
function openUpstream(
  service: string,
  isFault: (response: UpstreamResponse) => boolean,
  { inFlight, queue }: LoadLimits,
  eventLoop: EventLoopMonitor,
  { log, metrics }: Telemetry,
): UpstreamClient {
  const client = createUpstreamClient({
    service,
    isFault,
    upstreamMaxInFlight: inFlight,
    upstreamMaxQueue: queue,
    eventLoop,
    onCall: (region, outcome, ms) => metrics.recordCall(service, region, outcome, ms),
    onBreaker: (region, breaker) => log.warn({ service, region, breaker }, `circuit breaker is ${breaker}`),
  });
  metrics.watchPolicies(service, () => client.policyStates());
  return client;
}
