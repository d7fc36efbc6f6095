import type { Logger } from 'pino';
import { createCaptchaValidator, prepareCaptcha } from './captcha/client.ts';
import { isCaptchaFault } from './captcha/verdict.ts';
import type { Config, LiveUpstreams, LoadLimits } from './config/config.ts';
import { isFingerprintFault } from './fingerprint/answer.ts';
import { createFingerprintClient } from './fingerprint/client.ts';
import { prepareApplication } from './fingerprint/request.ts';
import type { Capabilities } from './graphql/context.ts';
import { buildSchema } from './graphql/schema.ts';
import { createLogger } from './observability/logger.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from './sandbox/accounts.ts';
import { type Sandbox, startSandbox } from './sandbox/server.ts';
import { createGate } from './server/access.ts';
import { startApollo } from './server/apollo.ts';
import { type ExampleCommand, exampleCommands } from './server/examples.ts';
import { GRAPHQL_PATH, listen } from './server/listener.ts';
import { watchEventLoop } from './server/pressure.ts';
import { createGuard } from './upstream/guard.ts';
import { createUpstreamHttp, type UpstreamAnswer, type UpstreamHttp } from './upstream/http.ts';

/** The running subgraph. */
export interface App {
  /** Scheme, host and port, without a trailing slash. */
  readonly url: string;
  readonly graphqlUrl: string;
  /** Addresses of the embedded sandbox by region; undefined in live mode. */
  readonly sandboxUrls: Sandbox['urls'] | undefined;
  /** Commands that ask this app something and work; none in live mode. */
  readonly examples: readonly ExampleCommand[];
  /** Finishes what is under way and closes every socket. */
  stop(): Promise<void>;
}

/** Puts the subgraph together and starts it. Rejects, with nothing left running, if an address cannot be listened on. */
export async function createApp(config: Config, log: Logger = createLogger()): Promise<App> {
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (let close = closers.pop(); close; close = closers.pop()) await close();
  };
  try {
    const { accounts, sandbox } = await openUpstreams(config.upstreams);
    if (sandbox) closers.push(sandbox.stop);
    // A pool for each service: a crowd of slow calls to one must not starve the other.
    const pools = {
      fingerprint: createUpstreamHttp(guardsOf('fingerprint', isFingerprintFault, config.load, log)),
      captcha: createUpstreamHttp(guardsOf('captcha', isCaptchaFault, config.load, log)),
    };
    closers.push(pools.fingerprint.close, pools.captcha.close);
    const explorable = config.upstreams.mode === 'sandbox';
    const traceable = config.routerSecrets.length > 0;
    const { limits, load } = config;
    const apollo = await startApollo(buildSchema(limits.representations), log, { explorable, traceable, limits });
    closers.push(() => apollo.stop());
    const capabilities = connect(config, accounts, pools, log);
    const pressure = watchEventLoop(load.eventLoopDelayMs);
    closers.push(async () => pressure.stop());
    const listener = await listen({
      host: config.host,
      port: config.port,
      apollo,
      capabilities,
      maxBodyBytes: limits.bodyBytes,
      gate: createGate(config.routerSecrets),
      pressure,
      shutdownGraceMs: load.shutdownGraceMs,
      explorable,
      log,
    });
    closers.push(listener.stop);
    const graphqlUrl = listener.url + GRAPHQL_PATH;
    const examples = sandbox
      ? exampleCommands(graphqlUrl, `${sandbox.urls.GLB}/sandbox/challenges?captcha_id=${'a'.repeat(32)}`)
      : [];
    log.info({ url: graphqlUrl, upstreams: config.upstreams.mode }, 'ready');
    return { url: listener.url, graphqlUrl, sandboxUrls: sandbox?.urls, examples, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Accounts = Pick<LiveUpstreams, 'applications' | 'captchas'>;

async function openUpstreams(upstreams: Config['upstreams']): Promise<{ accounts: Accounts; sandbox?: Sandbox }> {
  if (upstreams.mode === 'live') return { accounts: upstreams };
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

/** Makes the guard of each region of a service, which says in the log when it shuts the service off and lets it in again. */
function guardsOf(service: string, isFault: (answer: UpstreamAnswer) => boolean, load: LoadLimits, log: Logger) {
  return (region: string) =>
    createGuard({
      ...load,
      isFault,
      onBreaker: (breaker) => log.warn({ service, region, breaker }, `circuit breaker is ${breaker}`),
    });
}

type Pools = Readonly<Record<'fingerprint' | 'captcha', UpstreamHttp>>;

/** Gives each upstream's client what it needs: its accounts, its deadline, its sockets. */
function connect(config: Config, { applications, captchas }: Accounts, pools: Pools, log: Logger): Capabilities {
  return {
    limits: config.limits,
    applicationFor: directory(applications.map(prepareApplication), ({ publicKey }) => publicKey),
    queryFingerprint: createFingerprintClient(pools.fingerprint, config.fingerprintTimeoutMs),
    validateCaptcha: createCaptchaValidator({
      http: pools.captcha,
      configurationFor: directory(captchas.map(prepareCaptcha), ({ captchaId }) => captchaId),
      timeoutMs: config.captchaTimeoutMs,
      policy: config.captchaFailOpen,
      log,
    }),
  };
}

/** Finds by id; without one, the first row serves. */
function directory<Row>(rows: readonly Row[], idOf: (row: Row) => string) {
  const byId = new Map(rows.map((row) => [idOf(row), row]));
  return (id: string | null | undefined): Row | undefined => (id == null ? rows[0] : byId.get(id));
}
