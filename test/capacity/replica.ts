import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../bench/children.ts';
import { publicKeyOf } from '../soak/questions.ts';
import { ROUTER_SECRET } from '../soak/secret.ts';
import { listen } from '../support/loopback.ts';

/** One replica, as the deployment starts it, whose log goes to a file. */
export interface Replica {
  readonly pid: number;
  /** Where GraphQL is. */
  readonly url: string;
  /** What it has done until now. */
  read(): Promise<Reading>;
  /** Bytes of its log for each operation that has its line between two readings. */
  logBytesBetween(before: Reading, after: Reading): number;
  end(): Promise<void>;
}

/** The counters and gauges of a replica at one moment. */
export interface Reading {
  /** Upstream calls that ended, and how long they took together, in s. */
  readonly calls: number;
  readonly seconds: number;
  readonly inFlight: number;
  /** Sockets to the upstream that are open. */
  readonly sockets: number;
  readonly logBytes: number;
}

/** The region whose calls are measured. The other one is for warming up. */
const MEASURED = 'region="EU"';

interface Start {
  /** The script of the server. */
  readonly main: string;
  readonly upstreamUrl: string;
  readonly certificateFile: string;
  readonly logFile: string;
  readonly maxInFlight: number;
}

/** Starts a replica in live mode. Rejects if it is not ready within 20 s. */
export async function startReplica(options: Start): Promise<Replica> {
  const { main, upstreamUrl, logFile } = options;
  const adminPort = await freePort();
  const log = openSync(logFile, 'w');
  const child = spawn(process.execPath, [main], {
    cwd: ROOT,
    env: { ...variablesOf(options), ADMIN_PORT: String(adminPort) },
    stdio: ['ignore', log, 'inherit'],
  });
  closeSync(log);
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()));
  // The last resort, if this process ends in an unexpected way.
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const end = async () => {
    child.kill('SIGTERM');
    await ended;
    process.off('exit', kill);
  };
  const admin = `http://127.0.0.1:${adminPort}`;
  try {
    await ready(admin);
  } catch (error) {
    await end();
    throw error;
  }
  const [, url = ''] = /"url":"([^"]+)"/.exec(readFileSync(logFile, 'utf8')) ?? [];
  const upstreamPort = Number(new URL(upstreamUrl).port);
  const read = async () => {
    const text = await (await fetch(`${admin}/metrics`)).text();
    const calls = 'device_trust_upstream_duration_seconds';
    return {
      calls: totalOf(text, `${calls}_count`, MEASURED),
      seconds: totalOf(text, `${calls}_sum`, MEASURED),
      inFlight: totalOf(text, 'device_trust_upstream_in_flight', MEASURED),
      sockets: socketsTo(upstreamPort),
      logBytes: statSync(logFile).size,
    };
  };
  const logBytesBetween = (before: Reading, after: Reading) => {
    const written = readFileSync(logFile).subarray(before.logBytes, after.logBytes);
    return written.length / (written.toString().split('"msg":"operation"').length - 1);
  };
  return { pid: child.pid ?? 0, url, read, logBytesBetween, end };
}

/** Production defaults; the limits of the run are the only other values. */
function variablesOf({ upstreamUrl, certificateFile, maxInFlight }: Start): Record<string, string> {
  const applications = ['EU', 'NA'].map((region) => ({ publicKey: publicKeyOf(region), secret: 'sk', region }));
  return {
    PORT: '0',
    ROUTER_SECRETS: ROUTER_SECRET,
    SHUTDOWN_GRACE_MS: '0',
    // There is no captcha service here.
    UPSTREAM_CHECK: 'off',
    UPSTREAM_MAX_IN_FLIGHT: String(maxInFlight),
    // As many as may be under way, as by default.
    UPSTREAM_MAX_QUEUE: String(maxInFlight),
    FINGERPRINT_APPLICATIONS: JSON.stringify(applications),
    FINGERPRINT_URL_NA: upstreamUrl,
    FINGERPRINT_URL_EU: upstreamUrl,
    CAPTCHA_CONFIGURATIONS: JSON.stringify([{ captchaId: 'b'.repeat(32), captchaKey: 'key', region: 'EU' }]),
    CAPTCHA_URL_EU: upstreamUrl,
    NODE_EXTRA_CA_CERTS: certificateFile,
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

async function ready(admin: string): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    const text = await fetch(`${admin}/readyz`).then(
      (response) => response.text(),
      () => '',
    );
    if (text === 'ready\n') return;
    await sleep(50);
  }
  throw new Error('expected a replica that becomes ready, but got none within 20 s');
}

/** The sum of the series of a metric that have this label. */
function totalOf(text: string, metric: string, label: string): number {
  const lines = text.split('\n').filter((line) => line.startsWith(`${metric}{`) && line.includes(label));
  return lines.reduce((sum, line) => sum + Number(line.split('} ')[1]), 0);
}

/** Established connections to a port of this machine, from the table of the system; NaN where there is none. */
function socketsTo(port: number): number {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  try {
    const rows = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n').slice(1);
    return rows.filter((row) => {
      const [, , remote = '', state] = row.trim().split(/\s+/);
      return remote.endsWith(end) && state === '01';
    }).length;
  } catch {
    return Number.NaN;
  }
}
