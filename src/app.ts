import type { Logger } from 'pino';
import { type CaptchaConfiguration, createCaptchaValidator, prepareCaptcha } from './captcha/client.ts';
import { causeOf, isCaptchaFault } from './captcha/verdict.ts';
import { type Accounts, accountsOf } from './config/accounts.ts';
import { SANDBOX_HOST } from './config/listening.ts';
import type { Config } from './config/variables.ts';
import { type ExampleCommand, exampleCommands } from './explorer/examples.ts';
import { createFingerprintClient } from './fingerprint/client.ts';
import { countSignals } from './fingerprint/drift.ts';
import { isFingerprintFault } from './fingerprint/outcome.ts';
import { prepareApplication } from './fingerprint/request.ts';
import type { Capabilities } from './graphql/context.ts';
import { buildSchema } from './graphql/schema.ts';
import { createMetrics } from './observability/metrics.ts';
import { createTokenHash, type HashToken } from './observability/token-hash.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from './sandbox/accounts.ts';
import type { Sandbox } from './sandbox/server.ts';
import { startAdmin } from './server/admin.ts';
import { startEngine } from './server/apollo.ts';
import { createGate, type Gate } from './server/callers.ts';
import { GRAPHQL_PATH, listen } from './server/listener.ts';
import type { Telemetry } from './server/operation-log.ts';
import { watchEventLoop } from './server/pressure.ts';
import { createUpstreamHttp, type UpstreamHttp } from './upstream/client.ts';
import { createGuard, type Guard } from './upstream/policy.ts';
import type { UpstreamAnswer } from './upstream/transport.ts';

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
    const { accounts, sandbox } = await openUpstreams(config);
    const limits = limitsOf(config);
    if (sandbox) closers.push(sandbox.stop);
    let hashToken = createTokenHash(config.logHashKey);
    const telemetry = await startTelemetry(config.otlpEndpoint, log, (token) => hashToken(token));
    const { metrics, tracing } = telemetry;
    if (tracing) closers.push(tracing.stop);
    const admin = await startAdmin(config.host, config.adminPort, metrics);
    closers.push(admin.stop);
    // A pool for each service: a crowd of slow calls to one must not starve the other.
    const pools = {
      fingerprint: openUpstream('fingerprint', isFingerprintFault, config, telemetry),
      captcha: openUpstream('captcha', isCaptchaFault, config, telemetry),
    };
    closers.push(pools.fingerprint.close, pools.captcha.close);
    const explorable = config.upstreamMode === 'sandbox';
    const traceable = config.routerSecrets.length > 0;
    const engine = await startEngine(buildSchema(config.maxRepresentations), log, { explorable, traceable, limits });
    closers.push(() => engine.apollo.stop());
    const pressure = watchEventLoop(config.maxEventLoopDelayMs);
    closers.push(pressure.stop);
    let credentials = credentialsOf(config, accounts);
    const listener = await listen({
      host: config.host,
      port: config.port,
      maxConnections: config.maxConnections,
      engine,
      capabilities: connect(config, () => credentials, pools, telemetry),
      maxBodyBytes: config.maxBodyBytes,
      gate: (presented) => credentials.gate(presented),
      pressure,
      shutdownGraceMs: config.shutdownGraceMs,
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
    log.info({ url: graphqlUrl, upstreams: config.upstreamMode }, 'ready');
    const { url } = listener;
    const rotate = (next: Config) => {
      credentials = credentialsOf(next, next.upstreamMode === 'live' ? accountsOf(next) : accounts);
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

/** The limits of a request, by the names that the server has for them. */
export function limitsOf(config: Config) {
  const { maxTokens: tokens, maxDepth: depth, maxAliases: aliases, maxDirectives: directives } = config;
  return { tokens, depth, aliases, directives, upstreamCalls: config.maxUpstreamCalls, captchas: config.maxCaptchas };
}

async function openUpstreams(config: Config): Promise<{ accounts: Accounts; sandbox?: Sandbox }> {
  if (config.upstreamMode === 'live') return { accounts: accountsOf(config) };
  // Loaded only where it serves.
  const { startSandbox } = await import('./sandbox/server.ts');
  const sandbox = await startSandbox({ host: SANDBOX_HOST, port: config.sandboxPort });
  const { urls } = sandbox;
  return {
    sandbox,
    accounts: {
      applications: SANDBOX_APPLICATIONS.map((row) => ({ ...row, baseUrl: urls[row.region] })),
      captchas: SANDBOX_CAPTCHAS.map((row) => ({ ...row, baseUrl: urls[row.region] })),
    },
  };
}

/** Sockets, guards and metrics of one upstream service. The log hears when a guard shuts a region off, and opens it again. */
function openUpstream(
  service: string,
  isFault: (answer: UpstreamAnswer) => boolean,
  { upstreamMaxInFlight: inFlight, upstreamMaxQueue: queue }: Config,
  { log, metrics }: Telemetry,
): UpstreamHttp {
  const guards = new Map<string, Guard<UpstreamAnswer>>();
  const guardFor = (region: string) => {
    const onBreaker = (breaker: string) => log.warn({ service, region, breaker }, `circuit breaker is ${breaker}`);
    const guard = guards.get(region) ?? createGuard({ inFlight, queue, isFault, onBreaker });
    guards.set(region, guard);
    return guard;
  };
  metrics.watchGuards(service, () => [...guards].map(([region, guard]) => [region, guard.state()] as const));
  const onCall = (region: string, outcome: string, ms: number) => metrics.callEnded(service, region, outcome, ms);
  return createUpstreamHttp({ service, guardFor, onCall });
}

type Pools = Readonly<Record<'fingerprint' | 'captcha', UpstreamHttp>>;

/** Everything that a rotation of secrets replaces. */
interface Credentials {
  readonly applicationFor: Capabilities['applicationFor'];
  readonly configurationFor: (captchaId: string | null | undefined) => CaptchaConfiguration | undefined;
  readonly gate: Gate;
}

function credentialsOf({ routerSecrets }: Config, { applications, captchas }: Accounts): Credentials {
  return {
    applicationFor: directory(applications.map(prepareApplication), ({ publicKey }) => publicKey),
    configurationFor: directory(captchas.map(prepareCaptcha), ({ captchaId }) => captchaId),
    gate: createGate(routerSecrets),
  };
}

/** Gives each upstream's client what it needs: its accounts as they are when a call begins, its deadline, its sockets. */
function connect(config: Config, credentials: () => Credentials, pools: Pools, telemetry: Telemetry): Capabilities {
  const { log, metrics } = telemetry;
  return {
    limits: limitsOf(config),
    applicationFor: (publicKey) => credentials().applicationFor(publicKey),
    queryFingerprint: createFingerprintClient(pools.fingerprint, config.fingerprintTimeoutMs, (outcome) =>
      countSignals(outcome, metrics.signalHit),
    ),
    validateCaptcha: createCaptchaValidator({
      http: pools.captcha,
      configurationFor: (captchaId) => credentials().configurationFor(captchaId),
      timeoutMs: config.captchaTimeoutMs,
      policy: config.captchaFailOpen,
      log,
      onVerdict: (verdict) =>
        metrics.verified({ type: verdict.__typename, cause: causeOf(verdict), proceed: verdict.proceed }),
    }),
  };
}

/** Finds by id; without one, the first row serves. */
function directory<Row>(rows: readonly Row[], idOf: (row: Row) => string) {
  const byId = new Map(rows.map((row) => [idOf(row), row]));
  return (id: string | null | undefined): Row | undefined => (id == null ? rows[0] : byId.get(id));
}
