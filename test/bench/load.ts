import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { ROUTER_HEADERS } from './contenders.ts';
import { post } from './post.ts';
import { type Child, cpuMicrosOf } from './processes.ts';
import type { Workload } from './requests.ts';

/** The load generator. */

/** More than any answer takes, in ms. */
const PATIENCE_MS = 10_000;

/** The share of a round's requests that has to be sent: a stall at its end takes some. */
const LEAST_SHARE = 0.9;

/** Number of the last request; none is used twice. */
let last = 0;
export const requestsSent = () => last;

/**
 * Keeps the connections of a workload busy, unmeasured for `warmUpMs` and then for `ms`. With a `rate` it sends as many requests a
 * second at even intervals, also while others are under way, and says on stderr if the connections do not suffice.
 *
 * @returns CPU time of a request, in µs, with everything that the process does meanwhile
 * @throws Error if a single byte of an answer is not as it should be: the cost of a wrong one means nothing
 */
export async function costOf(
  server: Child,
  workload: Workload,
  warmUpMs: number,
  ms: number,
  rate = Number.POSITIVE_INFINITY,
): Promise<number> {
  const { title, connections, body, data } = workload;
  const { origin, pathname } = server.url;
  const pool = new Pool(origin, { connections, headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS });
  const send = async () => {
    last += 1;
    const number = last;
    const answer = await post(pool, pathname, ROUTER_HEADERS, body(number));
    const text = answer.body.toString().trimEnd();
    const expected = JSON.stringify({ data: data(number) });
    if (answer.status === 200 && text === expected) return;
    throw new Error(`${server.name} answers "${title}" with ${answer.status} and\n${text}\ninstead of\n${expected}`);
  };
  const loop = async (duration: number) => {
    const begin = performance.now();
    const end = begin + duration;
    let requests = 0;
    const lane = async () => {
      for (;;) {
        const due = begin + (requests * 1_000) / rate;
        if (Math.max(due, performance.now()) >= end) return;
        requests += 1;
        const early = due - performance.now();
        if (early > 0) await sleep(early);
        await send();
      }
    };
    await Promise.all(Array.from({ length: connections }, lane));
    return requests;
  };
  try {
    await loop(warmUpMs);
    // Every request that costs something is counted: none is under way at either reading.
    const before = cpuMicrosOf(server.pid);
    const requests = await loop(ms);
    const cost = (cpuMicrosOf(server.pid) - before) / requests;
    const planned = (rate * ms) / 1_000;
    if (Number.isFinite(planned) && requests < LEAST_SHARE * planned) {
      process.stderr.write(`"${title}": expected ${planned} requests in a round, but the load sent ${requests}\n`);
    }
    return cost;
  } finally {
    await pool.destroy();
  }
}
