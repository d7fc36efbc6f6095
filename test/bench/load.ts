import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Pool } from 'undici';
import { ROUTER_HEADERS } from './contenders.ts';
import { type Child, usedBy } from './processes.ts';
import type { Workload } from './requests.ts';

/** The load generator. */

/** More than any answer takes, in ms. */
const PATIENCE_MS = 10_000;
/** At a rate: more than are ever busy, so that no request waits for the one before it. */
const CONNECTIONS = 128;

/** Number of the last request; none is used twice. */
let last = 0;

/** What a server uses for a request. */
export type Cost = Awaited<ReturnType<typeof usedBy>>;

/**
 * Keeps the connections of a workload busy: first for `rewarmMs` without a measurement, then for `ms`, or for a number of requests.
 *
 * @throws Error if a single byte of an answer is not as it should be: the cost of a wrong one means nothing
 */
export async function costOf(
  server: Child,
  workload: Workload,
  { rewarmMs = 0, ms = Number.POSITIVE_INFINITY, requests = Number.POSITIVE_INFINITY },
): Promise<Cost> {
  const pool = poolOf(server, workload.connections);
  const loop = async (endsAt: number, most: number) => {
    let sent = 0;
    const lane = async () => {
      while (sent < most && performance.now() < endsAt) {
        sent += 1;
        await send(pool, server, workload);
      }
    };
    await Promise.all(Array.from({ length: workload.connections }, lane));
    return sent;
  };
  try {
    if (rewarmMs > 0) await loop(performance.now() + rewarmMs, Number.POSITIVE_INFINITY);
    // Every request that costs something is counted: none is under way at either reading.
    return await costOfEach(server, () => loop(performance.now() + ms, requests));
  } finally {
    await pool.destroy();
  }
}

/**
 * Sends as many requests a second at even intervals, whether or not the earlier ones have been answered, and counts the time of each
 * from when it was due. So an answer that is late delays none of those behind it unseen.
 *
 * @returns also percentiles of the latency, in ms
 */
export async function latencyOf(server: Child, workload: Workload, rate: number, ms: number) {
  const pool = poolOf(server, CONNECTIONS);
  const latencies: number[] = [];
  try {
    const cost = await costOfEach(server, async () => {
      const requests = Math.ceil((rate * ms) / 1_000);
      const clock = new Worker(join(import.meta.dirname, 'clock.ts'), { workerData: { rate, requests } });
      const sent: Promise<void>[] = [];
      clock.on('message', (due: number) => {
        const answered = send(pool, server, workload);
        sent.push(answered.then(() => void latencies.push(performance.timeOrigin + performance.now() - due)));
      });
      await once(clock, 'exit');
      await Promise.all(sent);
      return requests;
    });
    latencies.sort((one, other) => one - other);
    const percentile = (share: number) => latencies[Math.ceil(latencies.length * share) - 1] ?? Number.NaN;
    return { ...cost, p50: percentile(0.5), p99: percentile(0.99) };
  } finally {
    await pool.destroy();
  }
}

const poolOf = ({ url }: Child, connections: number) =>
  new Pool(url.origin, { connections, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });

/** What a server uses while `load` runs, divided by what that returns. */
export async function costOfEach(server: Child, load: () => Promise<number>): Promise<Cost> {
  const before = await usedBy(server);
  const requests = await load();
  const after = await usedBy(server);
  const each = (what: keyof Cost) => (after[what] - before[what]) / requests;
  return { micros: each('micros'), bytes: each('bytes'), transfers: each('transfers'), wakeUps: each('wakeUps') };
}

async function send(pool: Pool, { name, url }: Child, { title, body, data }: Workload): Promise<void> {
  last += 1;
  const number = last;
  const answer = await pool.request({
    path: url.pathname,
    method: 'POST',
    headers: ROUTER_HEADERS,
    body: body(number),
  });
  const text = (await answer.body.text()).trimEnd();
  const expected = JSON.stringify({ data: data(number) });
  if (answer.statusCode === 200 && text === expected) return;
  throw new Error(`${name} answers "${title}" with ${answer.statusCode} and\n${text}\ninstead of\n${expected}`);
}
