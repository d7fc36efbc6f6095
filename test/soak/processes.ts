import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/ports.ts';
import { ROOT } from '../support/process.ts';
import type { Addresses } from './upstream.ts';

/** The processes of the soak. None outlives it, whatever way it ends. */

const START_MS = 60_000;
const BUILD = `${ROOT}/dist/server/main.js`;
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export const ROUTER_SECRET = 'secret-of-the-soak-router';
/** The captcha ids: the one of people, and two that the service has put out of order. */
export const CAPTCHA_IDS = { default: 'a'.repeat(32), deleted: 'd'.repeat(32), paused: 'e'.repeat(32) } as const;

/** Rejects after 5 s. */
export async function textAt(url: string): Promise<string> {
  return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text();
}

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  running.add(child);
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      running.delete(child);
      resolve(String(code ?? signal));
    });
  });
  /** Each message gets one answer. */
  const ask = (message: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      child.once('message', resolve);
      void ended.then(() => reject(new Error(`${args} ended in the middle`)));
      child.send(message);
    });
  return { child, ended, ask };
}

/** A script of this folder in a process of its own. */
export const startScript = (name: string) => start([`test/soak/${name}`]);

/** The addresses of both services, in a process of their own. */
// Safe: this is what it answers.
export const startUpstream = () => startScript('upstream.ts').ask({}) as Promise<Addresses>;

export interface Server {
  readonly pid: number;
  readonly origin: string;
  /** Where metrics and probes are. */
  readonly admin: string;
  /** The sum of all values of this metric whose labels contain this text. */
  metric(name: string, labels?: string): Promise<number>;
  /** Asks it to end, and gives its exit code or signal. */
  end(): Promise<string>;
}

/** The server that `npm run build` makes, in live mode with production defaults. Resolves when it is ready. */
export async function startServer(
  { fingerprint, captcha }: Addresses,
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  if (!existsSync(BUILD)) throw new Error(`${BUILD} is not there: "npm run soak" builds it`);
  const captchas = Object.values(CAPTCHA_IDS).map((captchaId) => ({ captchaId, captchaKey: 'key', region: 'EU' }));
  const [port, adminPort] = [await freePort(), await freePort()];
  const admin = `http://127.0.0.1:${adminPort}`;

  const { child, ended } = start([BUILD], {
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    ROUTER_SECRETS: ROUTER_SECRET,
    FINGERPRINT_APPLICATIONS: '[{"publicKey":"pk_soak","secret":"sk","region":"EU"}]',
    FINGERPRINT_URL_EU: fingerprint,
    CAPTCHA_CONFIGURATIONS: JSON.stringify(captchas),
    CAPTCHA_URL_EU: captcha,
    ...env,
  });
  const limit = performance.now() + START_MS;
  while ((await textAt(`${admin}/readyz`).catch(() => '')) !== 'ready\n') {
    if (performance.now() > limit || child.exitCode !== null) throw new Error('a server did not become ready');
    await sleep(50);
  }
  return {
    pid: child.pid ?? 0,
    origin: `http://127.0.0.1:${port}`,
    admin,
    metric: async (name, labels = '') => {
      const lines = (await textAt(`${admin}/metrics`)).split('\n');
      const found = lines.filter((line) => line.startsWith(`${name}{`) && line.includes(labels));
      return found.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    },
    end: () => {
      child.kill('SIGTERM');
      return ended;
    },
  };
}
