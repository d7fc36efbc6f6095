import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { start } from '../bench/processes.ts';
import { freePort } from '../support/ports.ts';

/** The process of the server, and the threads beside it. None outlives the soak, whatever way it ends. */

const START_MS = 60_000;

export const ROUTER_SECRET = 'secret-of-the-soak-router';
/** The captcha ids: the one of people, and two that the service has put out of order. */
export const CAPTCHA_IDS = { default: 'a'.repeat(32), deleted: 'd'.repeat(32), paused: 'e'.repeat(32) } as const;

/** The bot has the others refused, as they should be. */
export const isOfPeople = (account?: string) => account !== CAPTCHA_IDS.deleted && account !== CAPTCHA_IDS.paused;

/** The fingerprint service has the same port at both. */
export const FINGERPRINT_HOSTS: readonly [string, string] = ['127.0.0.2', '127.0.0.3'];
/** Who signs attestations, and the service that accepts them. */
export const ISSUER = 'https://soak.test';
export const AUDIENCE = { id: 'orders', actions: ['order'], subject: 'required', captchaIds: [CAPTCHA_IDS.default] };

/** Rejects after 5 s. */
export async function textAt(url: string): Promise<string> {
  return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text();
}

/** Starts a script of this folder in a thread of its own, and gives what it sends first. */
export async function startThread(name: string, workerData?: unknown): Promise<unknown> {
  const [sent] = await once(new Worker(join(import.meta.dirname, name), { workerData }), 'message'); // rejects on 'error'
  return sent;
}

export type Replica = Awaited<ReturnType<typeof startServer>>;

/**
 * The server that `npm run build` makes, in live mode with production defaults. Resolves when it is ready.
 *
 * @param tell gets what a line of its log is about that asks for action, or tells that an account is not well
 * @returns also where its metrics and probes are
 */
export async function startServer(env: Readonly<Record<string, string>>, tell: (about: string) => void) {
  const captchas = Object.values(CAPTCHA_IDS).map((captchaId) => ({ captchaId, captchaKey: 'key', region: 'EU' }));
  const adminPort = await freePort();
  const admin = `http://127.0.0.1:${adminPort}`;
  const server = await start(['dist/server/main.js'], {
    PORT: '0',
    ADMIN_PORT: String(adminPort),
    ROUTER_SECRETS: ROUTER_SECRET,
    TRUSTED_HEADERS: '{"subject":"x-user-id"}',
    FINGERPRINT_APPLICATIONS: '[{"publicKey":"pk_soak","secret":"sk","region":"EU"}]',
    CAPTCHA_CONFIGURATIONS: JSON.stringify(captchas),
    ATTESTATION: JSON.stringify({ issuer: ISSUER, audiences: [AUDIENCE] }),
    ...env,
  });
  const { stdout } = server.process;
  if (!stdout) throw new Error('expected a pipe');
  createInterface({ input: stdout }).on('line', (line) => {
    if (!/"level":"(error|fatal)"|"level":"warn".*"health":/.test(line)) return;
    const { account, msg } = JSON.parse(line);
    if (isOfPeople(account)) tell(account ?? msg);
  });
  const limit = performance.now() + START_MS;
  while ((await textAt(`${admin}/readyz`).catch(() => '')) !== 'ready\n') {
    if (performance.now() > limit) throw new Error('the server did not become ready');
    await sleep(50);
  }
  return { ...server, admin };
}
