import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { createCaptchaMetrics } from './captcha/metrics.ts';
import { CaptchaService } from './captcha/service.ts';
import { SANDBOX_ATTESTATION_KEY } from './captcha/settings.ts';
import { exampleCommands, operationsWith } from './explorer/examples.ts';
import { createFingerprintMetrics } from './fingerprint/metrics.ts';
import { DEFAULT_POLICY, type RiskPolicy } from './fingerprint/policy.ts';
import { FingerprintService } from './fingerprint/service.ts';
import { SANDBOX_SEALING_KEY } from './fingerprint/settings.ts';
import { LogHash } from './observability/logger.ts';
import { createMetrics } from './observability/metrics.ts';
import type { Telemetry } from './observability/operation.ts';
import { openTracing } from './observability/tracing.ts';
import { DnsCache } from './runtime/dns.ts';
import { startEventLoopMonitor } from './runtime/event-loop.ts';
import { SANDBOX_ATTESTATION } from './sandbox/accounts.ts';
import type { Sandbox } from './sandbox/server.ts';
import { createAdmin, createServer, type Explorer, GRAPHQL_PATH, METRICS_PATH } from './server/server.ts';
import { createMetadataReader } from './server/trusted-headers.ts';
import { hashesOf } from './settings/summary.ts';
import { accountsOf, type Config } from './settings/variables.ts';
import { SUBGRAPH_SCHEMA, SubgraphContext } from './subgraph.ts';
import { createUpstreamMetrics } from './upstream/metrics.ts';
import { openQuotas } from './upstream/quota.ts';

export type App = Awaited<ReturnType<typeof createApp>>;

/** Puts the subgraph together and starts it. Rejects, with nothing left running, if an address cannot be listened on. */
export async function createApp(config: Config, log: Logger, policy = DEFAULT_POLICY, maxDelayMs?: number) {
  const metrics = createMetrics();
  const fingerprintMetrics = createFingerprintMetrics(metrics.registry);
  const captchaMetrics = createCaptchaMetrics(metrics.registry);
  const upstreamMetrics = createUpstreamMetrics(metrics.registry, { fingerprint: fingerprintMetrics.recordSentCall });
  // An alert sees an increase only in a series that began at 0.
  for (const { keys } of createMetadataReader(config.trustedHeaders?.metadata ?? {})(undefined))
    for (const key of keys) fingerprintMetrics.recordDroppedMetadata(key, 0);
  /** The stop functions of all parts in the order of their start, called from the last to the first. */
  const closers: (() => unknown)[] = [];
  const stop = async () => {
    for (let close = closers.pop(); close; close = closers.pop()) await close();
  };
  try {
    const sandbox = config.upstreamMode === 'sandbox' ? await openSandbox(config) : undefined;
    if (sandbox) closers.push(sandbox.stop);
    const configured = sandbox ?? accountsOf(config);
    metrics.recordContents({ ...hashesOf(config), policy: policy.id });
    const tracing = await openTracing({ ...config, log, metrics });
    closers.push(() => tracing?.stop());
    const logHash = new LogHash(config.logHashKey);
    const telemetry: Telemetry = { log, logSample: config.logSample, metrics, logHash, tracing };

    const eventLoop = startEventLoopMonitor(maxDelayMs);
    closers.push(eventLoop.stop);
    const quotas = await openQuotas({ ...config, log, metrics: upstreamMetrics });
    closers.push(quotas.close);
    const dns = new DnsCache({
      failed: (host, code, isFirst) => {
        metrics.recordFailedLookup();
        if (isFirst) log.warn({ internal: `look-up ${code} of ${host}` }, LOOKUP_FAILS);
      },
      recovered: (host) => log.info({ internal: `look-up of ${host}` }, 'The host name can be looked up again.'),
    });
    closers.push(() => dns.close());
    // Each service has its own client and sockets: slow calls to one must not starve the other.
    const shared = { ...config, log, dns, eventLoop };
    const fingerprint = new FingerprintService(
      {
        ...shared,
        quota: quotas.of('fingerprint', config.fingerprintQuota),
        metrics: { ...upstreamMetrics, ...fingerprintMetrics },
      },
      configured.applications,
      sandbox ? [SANDBOX_SEALING_KEY] : config.sealingKeys,
      policy,
    );
    const captcha = new CaptchaService(
      {
        ...shared,
        quota: quotas.of('captcha', config.captchaQuota),
        metrics: { ...upstreamMetrics, ...captchaMetrics },
      },
      configured.captchas,
      attestationOf(config),
    );
    const upstreams = [fingerprint.upstream, captcha.upstream];
    for (const upstream of upstreams) closers.push(() => upstream.close());
    const parts = { fingerprint, captcha, maxCost: config.maxCost };
    const jwks = () => captcha.attestations.jwks;
    const explorer = sandbox ? await openExplorer(sandbox) : undefined;
    const isUpstreamReady = () => upstreams.every(({ health }) => health.isReady);
    const own = { telemetry, eventLoop, explorer, isUpstreamReady, jwks, trustsLoopback: sandbox !== undefined };
    const server = await createServer(SUBGRAPH_SCHEMA, (...of) => new SubgraphContext(parts, ...of), {
      ...config,
      ...own,
    });
    metrics.watchReadiness(server.isReady);
    const admin = createAdmin(metrics.registry, server.answerProbe);
    closers.push(() => admin.close(0), server.stop);
    const metricsUrl = (await admin.listen(config.host, config.adminPort)) + METRICS_PATH;
    const url = await server.listen(config.host, config.port);
    const graphqlUrl = url + GRAPHQL_PATH;
    const health = upstreams.map((upstream) => upstream.health.start());
    const ready = Promise.all(health).then(() =>
      log.info({ url: graphqlUrl, upstreams: config.upstreamMode }, 'ready'),
    );
    let inUse = config;
    /** Replaces all secrets with those of another configuration, except the address of the store. Requests in flight keep theirs. */
    const rotate = (next: Config) => {
      const isStoreNew = next.quotaStoreUrl !== config.quotaStoreUrl;
      if (isStoreNew)
        log.warn('QUOTA_STORE_URL has changed. Restart every replica: until then this one uses the old store.');
      const rotated = { ...next, quotaStoreUrl: config.quotaStoreUrl };
      if (isStoreNew && isDeepStrictEqual(rotated, inUse)) return;
      inUse = rotated;
      if (next.upstreamMode === 'live') {
        const { applications, captchas } = accountsOf(next);
        fingerprint.replace(applications);
        captcha.replace(captchas);
      }
      if (next.attestationKeys.length > 0) captcha.attestations.replaceKeys(next.attestationKeys);
      if (next.sealingKeys.length > 0) fingerprint.judgements.replaceKeys(next.sealingKeys);
      server.replaceSecrets(next);
      if (next.logHashKey !== undefined) logHash.replaceKey(next.logHashKey);
      metrics.recordContents(hashesOf(rotated));
      log.info('secrets rotated');
    };
    const examples = sandbox ? exampleCommands(graphqlUrl, sandbox.challengeUrl, config) : '';
    /** Replaces the risk policy. Operations in flight keep theirs. */
    const usePolicy = (next: RiskPolicy) => {
      fingerprint.policyInUse.current = next;
      metrics.recordContents({ policy: next.id });
    };
    const addresses = { url, graphqlUrl, metricsUrl, sandboxUrls: sandbox?.urls };
    return { ...addresses, examples, ready, rotate, usePolicy, recordReload: metrics.recordReload, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const LOOKUP_FAILS =
  'A host name cannot be looked up because of our network: the resolver, a network policy, or the name. The known addresses are used for 5 minutes, and then every call fails.';

// Parts of sandbox mode are loaded where they are used.
const openSandbox = async ({ sandboxHost: host, sandboxPort: port }: Config) =>
  (await import('./sandbox/server.ts')).startSandbox({ host, port });

/** Loads the pages for people. Each time that one is opened, the sandbox issues a challenge for it. */
async function openExplorer({ challengeUrl }: Sandbox): Promise<Explorer> {
  const { GRAPHIQL_PATH, renderApolloSandbox, renderGraphiql } = await import('./explorer/pages.ts');
  const issueChallenge = async () => (await fetch(challengeUrl, { method: 'POST' })).json();
  return new Map([
    [GRAPHQL_PATH, async () => renderApolloSandbox(await operationsWith(issueChallenge))],
    [GRAPHIQL_PATH, async () => renderGraphiql(GRAPHQL_PATH, await operationsWith(issueChallenge))],
  ]);
}

/** The settings and keys of attestations. Sandbox mode has defaults; live mode has none. */
function attestationOf({ attestation, attestationKeys, upstreamMode }: Config) {
  if (upstreamMode === 'live') return attestation && { settings: attestation, keys: attestationKeys };
  return { settings: attestation ?? SANDBOX_ATTESTATION, keys: [SANDBOX_ATTESTATION_KEY] };
}
