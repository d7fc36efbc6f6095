import type { Logger } from 'pino';
import { openAttestationIssuer } from './captcha/attestation-issuer.ts';
import { generateKey } from './captcha/attestation-keys.ts';
import { createCaptchaValidator, prepareCaptcha } from './captcha/client.ts';
import { causeOf, isCaptchaFault } from './captcha/verdict.ts';
import { accountsOf } from './config/accounts.ts';
import { SANDBOX_HOST } from './config/listening.ts';
import type { Config } from './config/variables.ts';
import { type ExampleCommand, exampleCommands } from './explorer/examples.ts';
import { createFingerprintClient } from './fingerprint/client.ts';
import { countSignals } from './fingerprint/drift.ts';
import { isFingerprintFault } from './fingerprint/outcome.ts';
import { prepareApplication } from './fingerprint/request.ts';
import { buildSchema } from './graphql/schema.ts';
import { createMetrics } from './observability/metrics.ts';
import { reportQuotaStore } from './observability/quota-store.ts';
import { createTokenHash } from './observability/token-hash.ts';
import { Resolver } from './runtime/dns.ts';
import { startEventLoopMonitor } from './runtime/event-loop.ts';
import { SANDBOX_ATTESTATION } from './sandbox/accounts.ts';
import type { Sandbox } from './sandbox/server.ts';
import { createAdmin } from './server/admin.ts';
import { type Explorer, GRAPHQL_PATH } from './server/listener.ts';
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
    const configured = sandbox ?? accountsOf(config);
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
    const openUpstream = (service: string, own: Pick<UpstreamOptions, 'isFault' | 'quotaLimits'>) => {
      const client = createUpstreamClient({
        ...config,
        ...own,
        service,
        quotaStore,
        resolver,
        eventLoop,
        onCall: (region, outcome, ms) => metrics.recordCall(service, region, outcome, ms),
        onBreaker: (region, breaker) => log.warn({ service, region, breaker }, `circuit breaker is ${breaker}`),
        onQuotaRefused: (window) => metrics.recordQuotaRefusal(service, window),
      });
      closers.push(client.close);
      metrics.watchPolicies(service, client.policyStates);
      metrics.watchQuota(service, client.quotaStates);
      return client;
    };
    const queryFingerprint = createFingerprintClient({
      ...config,
      upstream: openUpstream('fingerprint', { isFault: isFingerprintFault, quotaLimits: config.fingerprintQuota }),
      onOutcome: (outcome) => countSignals(outcome, metrics.recordSignal),
    });
    const validateCaptcha = createCaptchaValidator({
      ...config,
      upstream: openUpstream('captcha', { isFault: isCaptchaFault, quotaLimits: config.captchaQuota }),
      captchas,
      log,
      onVerdict: (verdict) =>
        metrics.recordVerdict({ type: verdict.__typename, cause: causeOf(verdict), proceed: verdict.proceed }),
    });

    const attestations = await openAttestationIssuer(attestationOf(config), {
      captchas,
      onIssued: metrics.recordAttestation,
      onRefused: metrics.recordAttestationRefusal,
    });
    const { permit: permitAttestation, jwks } = attestations;
    const applicationFor = (publicKey: string | null | undefined) => applications.find(publicKey);
    const capabilities = { applicationFor, queryFingerprint, validateCaptcha, permitAttestation, limits: config };
    const explorer = sandbox ? await openExplorer() : undefined;
    const server = await createServer(schema, capabilities, { ...config, telemetry, eventLoop, explorer, jwks });
    const admin = createAdmin(metrics, server.health);
    closers.push(admin.stop, server.stop);
    const metricsUrl = await admin.listen(config.host, config.adminPort);
    const url = await server.listen(config.host, config.port);

    const graphqlUrl = url + GRAPHQL_PATH;
    log.info({ url: graphqlUrl, upstreams: config.upstreamMode }, 'ready');
    const rotate = (next: Config) => {
      if (next.upstreamMode === 'live') {
        const { applications: nextApplications, captchas: nextCaptchas } = accountsOf(next);
        applications.replace(nextApplications.map(prepareApplication));
        captchas.replace(nextCaptchas.map(prepareCaptcha));
      }
      if (next.attestation) attestations.replaceKeys(next.attestationKeys);
      server.replaceRouterSecrets(next.routerSecrets);
      if (next.logHashKey !== undefined) hashToken = createTokenHash(next.logHashKey);
      log.info('secrets rotated');
    };
    const examples = sandbox ? exampleCommands(graphqlUrl, sandbox.challengeUrl) : [];
    return { url, graphqlUrl, metricsUrl, sandboxUrls: sandbox?.urls, examples, rotate, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

// What only one mode needs is loaded only there.

async function openSandbox(port: number): Promise<Sandbox> {
  const { startSandbox } = await import('./sandbox/server.ts');
  return startSandbox({ host: SANDBOX_HOST, port });
}

async function openExplorer(): Promise<Explorer> {
  const { apolloSandboxPage } = await import('./explorer/landing-page.ts');
  const { GRAPHIQL_PATH, renderGraphiql } = await import('./explorer/graphiql.ts');
  return { landingPage: apolloSandboxPage(), graphiqlPath: GRAPHIQL_PATH, renderGraphiql };
}

function attestationOf({ attestation, attestationKeys, upstreamMode }: Config) {
  if (attestation) return { settings: attestation, keys: attestationKeys };
  return upstreamMode === 'sandbox' ? { settings: SANDBOX_ATTESTATION, keys: [generateKey('active')] } : undefined;
}
