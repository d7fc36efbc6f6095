import type { Logger } from 'pino';
import { createCaptchaValidator } from './captcha/client.ts';
import { captchaProbe } from './captcha/probe.ts';
import { prepareCaptcha } from './captcha/request.ts';
import { causeOf } from './captcha/verdict.ts';
import { accountsOf } from './config/accounts.ts';
import type { Config } from './config/variables.ts';
import type { ExampleCommand } from './explorer/examples.ts';
import { createFingerprintClient } from './fingerprint/client.ts';
import { countSignals } from './fingerprint/drift.ts';
import { createJudgements } from './fingerprint/judgement.ts';
import { fingerprintProbe } from './fingerprint/probe.ts';
import { prepareApplication } from './fingerprint/request.ts';
import { buildSchema } from './graphql/schema.ts';
import { createMetrics } from './observability/metrics.ts';
import { reportQuotaStore } from './observability/quota-store.ts';
import { createTokenHash } from './observability/token-hash.ts';
import { reportHealth } from './observability/upstream-health.ts';
import { Resolver } from './runtime/dns.ts';
import { startEventLoopMonitor } from './runtime/event-loop.ts';
import type { Sandbox } from './sandbox/server.ts';
import { examplesFor, openExplorer, openSandbox, sandboxAccounts, sealingKeysOf } from './sandbox-mode.ts';
import { createAdmin } from './server/admin.ts';
import { GRAPHQL_PATH } from './server/listener.ts';
import type { Telemetry } from './server/operation-log.ts';
import { createServer } from './server/server.ts';
import { Accounts } from './upstream/accounts.ts';
import { createUpstreamClient, type UpstreamOptions } from './upstream/client.ts';
import { openQuotaStore } from './upstream/quota-store.ts';

/** The running subgraph. */
export interface App {
  /** Scheme, host and port, without a trailing slash. */
  readonly url: string;
  readonly graphqlUrl: string;
  /** The address at which Prometheus reads the metrics. */
  readonly metricsUrl: string;
  /** Addresses of the embedded sandbox by region. Undefined in live mode. */
  readonly sandboxUrls: Sandbox['urls'] | undefined;
  /** Commands for a shell that ask this app something. There are none in live mode. */
  readonly examples: readonly ExampleCommand[];
  /** Resolves once the upstream accounts let readiness succeed. */
  readonly ready: Promise<void>;
  /** Replaces all secrets by those of another configuration. Requests under way keep their own. */
  rotate(config: Config): void;
  /** Lets requests under way finish and closes every socket. */
  stop(): Promise<void>;
}

/** Puts the subgraph together and starts it. Rejects, with nothing left running, if an address cannot be listened on. */
export async function createApp(config: Config, log: Logger): Promise<App> {
  /** What stops each part, in the order in which the parts were started. A stop runs it from the last to the first. */
  const closers: (() => unknown)[] = [];
  const stop = async () => {
    for (let close = closers.pop(); close; close = closers.pop()) await close();
  };
  try {
    const sandbox = config.upstreamMode === 'sandbox' ? await openSandbox(config.sandboxPort) : undefined;
    if (sandbox) closers.push(sandbox.stop);
    const configured = sandbox ? sandboxAccounts(sandbox) : accountsOf(config);
    const applications = new Accounts(({ publicKey }) => publicKey, configured.applications.map(prepareApplication));
    const captchas = new Accounts(({ captchaId }) => captchaId, configured.captchas.map(prepareCaptcha));

    const metrics = createMetrics();
    const { otlpEndpoint } = config;
    const tracing = otlpEndpoint ? (await import('./observability/tracing.ts')).startTracing(otlpEndpoint) : undefined;
    if (tracing) closers.push(tracing.stop);
    let hashToken = createTokenHash(config.logHashKey);
    const telemetry: Telemetry = { log, metrics, hashToken: (token) => hashToken(token), tracing };

    const schema = buildSchema();
    // Started after the schema is built, because that takes long enough to look like an overload.
    const eventLoop = startEventLoopMonitor();
    closers.push(eventLoop.stop);
    const quotaStore = await openQuotaStore(config.quotaStoreUrl, reportQuotaStore(log, metrics));
    closers.push(() => quotaStore?.close());
    const resolver = new Resolver();
    closers.push(() => resolver.close());
    // Each service has a client, and so sockets, of its own: slow calls to one must not starve the other.
    const openUpstream = (service: string, own: Pick<UpstreamOptions, 'probes' | 'timeoutMs' | 'quotaLimits'>) => {
      const client = createUpstreamClient({
        ...config,
        ...own,
        service,
        quotaStore,
        resolver,
        eventLoop,
        onCall: (region, outcome, ms) => metrics.recordCall(service, region, outcome, ms),
        check: config.upstreamCheck,
        graceMs: config.upstreamCheckGraceMs,
        onChange: reportHealth(service, log, metrics, sandbox ? 'debug' : 'error'),
        onProbe: (region, result) => metrics.recordProbe(service, region, result),
        onQuotaRefused: (window) => metrics.recordQuotaRefusal(service, window),
      });
      closers.push(client.close);
      metrics.watchBulkheads(service, client.bulkheads);
      metrics.watchHealth(service, () => client.health.all());
      metrics.watchQuota(service, client.quotaStates);
      return client;
    };
    const fingerprint = openUpstream('fingerprint', {
      probes: applications.map(fingerprintProbe),
      timeoutMs: config.fingerprintTimeoutMs,
      quotaLimits: config.fingerprintQuota,
    });
    const captcha = openUpstream('captcha', {
      probes: captchas.map(captchaProbe),
      timeoutMs: config.captchaTimeoutMs,
      quotaLimits: config.captchaQuota,
    });
    const queryFingerprint = createFingerprintClient({
      ...config,
      upstream: fingerprint,
      onOutcome: (outcome) => countSignals(outcome, metrics.recordSignal),
    });
    const validateCaptcha = createCaptchaValidator({
      ...config,
      upstream: captcha,
      captchas,
      log,
      onVerdict: (verdict) =>
        metrics.recordVerdict({ type: verdict.__typename, cause: causeOf(verdict), proceed: verdict.proceed }),
    });

    const judgements = createJudgements(sealingKeysOf(config), metrics.recordJudgement);
    const applicationFor = (publicKey: string | null | undefined) => applications.find(publicKey);
    const capabilities = { applicationFor, queryFingerprint, validateCaptcha, judgements, limits: config };
    const explorer = sandbox ? await openExplorer() : undefined;
    const isUpstreamReady = () => fingerprint.health.isReady && captcha.health.isReady;
    const options = { ...config, telemetry, eventLoop, explorer, isUpstreamReady };
    const server = await createServer(schema, capabilities, options);
    metrics.watchReadiness(() => server.health.isReady);
    const admin = createAdmin(metrics, server.health);
    closers.push(admin.stop, server.stop);
    const metricsUrl = await admin.listen(config.host, config.adminPort);
    const url = await server.listen(config.host, config.port);
    const graphqlUrl = url + GRAPHQL_PATH;
    const ready = Promise.all([fingerprint, captcha].map(({ health }) => health.start())).then(() =>
      log.info({ url: graphqlUrl, upstreams: config.upstreamMode }, 'ready'),
    );
    const rotate = (next: Config) => {
      if (next.upstreamMode === 'live') {
        const { applications: nextApplications, captchas: nextCaptchas } = accountsOf(next);
        applications.replace(nextApplications.map(prepareApplication));
        captchas.replace(nextCaptchas.map(prepareCaptcha));
        fingerprint.health.replace(applications.map(fingerprintProbe));
        captcha.health.replace(captchas.map(captchaProbe));
      }
      if (next.sealingKeys.length > 0) judgements.replaceKeys(next.sealingKeys);
      server.replaceRouterSecrets(next.routerSecrets);
      if (next.logHashKey !== undefined) hashToken = createTokenHash(next.logHashKey);
      log.info('secrets rotated');
    };
    const examples = sandbox ? examplesFor(graphqlUrl, sandbox) : [];
    return { url, graphqlUrl, metricsUrl, sandboxUrls: sandbox?.urls, examples, ready, rotate, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
