import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { createApp } from '../app.ts';
import { generateKey } from '../captcha/attestation-keys.ts';
import { parseConfig } from '../config/parser.ts';
import { DEFAULT_POLICY } from '../fingerprint/default-policy.ts';
import { newSealingKey } from '../fingerprint/sealing-key.ts';
import { loggerOptions } from '../observability/logger.ts';
import { createMetrics } from '../observability/metrics.ts';
import type { Sandbox } from '../sandbox/server.ts';
import { openSandbox } from '../sandbox-mode.ts';
import { createClient } from './client.ts';
import { AUDIENCE, type WarmUpRequest } from './requests.ts';

/** An instance of the app that answers nobody but the warm-up. */
interface Stage {
  /** Asks it over HTTP, as a router does, and gives the body of the answer. Rejects after `abort`. */
  ask(request: WarmUpRequest): Promise<unknown>;
  /** Values of a captcha that is solved. */
  solveChallenge(): Promise<unknown>;
  /** Ends the request under way, and lets every further one fail. */
  abort(): void;
  /** Closes every socket. */
  close(): Promise<void>;
}

/** Sent with each request. They reach the upstreams of the stage alone. */
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json',
  'x-user-id': 'warm-up',
  'x-user-scopes': 'risk:read',
  'x-client-ip': '192.0.2.1',
};
const TRUSTED_HEADERS = {
  subject: 'x-user-id',
  scopes: 'x-user-scopes',
  metadata: { ipAddr: { header: 'x-client-ip' } },
};
const QUOTA = JSON.stringify({ perSecond: 1_000_000, perDay: 1_000_000 });

/**
 * Starts the stage. Rejects, with nothing left running, if it cannot listen.
 *
 * @param attests whether it attests captchas. If not, the code that signs attestations is not loaded
 */
export async function openStage(host: string, attests: boolean): Promise<Stage> {
  /** What closes each part, in the order in which the parts were opened. */
  const closers: (() => unknown)[] = [];
  const close = async () => {
    for (let closeLast = closers.pop(); closeLast; closeLast = closers.pop()) await closeLast();
  };
  try {
    const sandbox = await openSandbox(0);
    closers.push(sandbox.stop);
    const secret = randomBytes(32).toString('hex');
    const environment = environmentFor(sandbox, host, secret, attests);
    const app = await createApp(
      parseConfig(environment, () => ''),
      pino(loggerOptions(), { write: () => {} }),
      DEFAULT_POLICY,
      createMetrics(false),
    );
    closers.push(app.stop);
    const client = createClient({ ...HEADERS, 'router-authorization': secret });
    closers.push(client.close);
    return {
      ask: (request) => client.post(app.graphqlUrl, JSON.stringify(request)),
      solveChallenge: () => client.post(sandbox.challengeUrl, ''),
      abort: client.abort,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * The configuration as an operator would write it. Nothing of the real one is in it, so whatever is added to that, such as an
 * exporter or a shared store, is not used here by mistake.
 */
function environmentFor({ applications, captchas, urls }: Sandbox, host: string, secret: string, attests: boolean) {
  // The first of each belongs to region GLB.
  const accounts = applications.slice(0, 1).map(({ publicKey, secret, region }) => ({ publicKey, secret, region }));
  const captchaIds = captchas
    .slice(0, 1)
    .map(({ captchaId, captchaKey, region }) => ({ captchaId, captchaKey, region }));
  return {
    HOST: host,
    PORT: '0',
    ADMIN_PORT: '0',
    ROUTER_SECRETS: secret,
    TRUSTED_HEADERS: JSON.stringify(TRUSTED_HEADERS),
    FINGERPRINT_APPLICATIONS: JSON.stringify(accounts),
    FINGERPRINT_URL_GLB: urls.GLB,
    FINGERPRINT_QUOTA: QUOTA,
    CAPTCHA_CONFIGURATIONS: JSON.stringify(captchaIds),
    CAPTCHA_URL_GLB: urls.GLB,
    CAPTCHA_QUOTA: QUOTA,
    SEALING_KEYS: JSON.stringify([newSealingKey()]),
    ...(attests && {
      ATTESTATION: JSON.stringify({
        issuer: 'https://warm-up.invalid',
        audiences: [{ id: AUDIENCE.audience, actions: [AUDIENCE.action] }],
      }),
      ATTESTATION_KEYS: JSON.stringify([generateKey('active')]),
    }),
    // The first call opens a connection by itself. Probes belong to the real upstreams.
    UPSTREAM_CHECK: 'off',
    SHUTDOWN_GRACE_MS: '0',
    // Compiling holds up the event loop, which is no overload.
    MAX_EVENT_LOOP_DELAY_MS: '10000',
  };
}
