import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { ROUTER_HEADERS } from './contenders.ts';
import { post } from './post.ts';
import { type Child, cpuMicrosOf } from './processes.ts';
import type { Workload } from './requests.ts';

/** The load generator. */

/** More than any answer takes, in ms. */
const PATIENCE_MS = 10_000;

/** Of the requests of a rate, the share above which the load keeps up: a stall at the end of a round takes some. */
const LEAST_SHARE = 0.8;

/** Number of the last request; none is used twice. */
let last = 0;

/**
 * Keeps the connections of a workload busy, unmeasured for `warmUpMs` and then for `ms`, or sends `rate` requests a second, each at
 * its time, whether or not those before it are answered.
 *
 * @returns CPU time of a request, in µs; at a rate with all that the process does in between
 * @throws Error if a single byte of an answer is not as it should be, or the connections do not carry the rate: the cost of a
 *   wrong one means nothing
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
    if (rate === Number.POSITIVE_INFINITY || requests > LEAST_SHARE * planned) return cost;
    throw new Error(`expected ${planned} requests for "${title}" in a round, but ${server.name} answered ${requests}`);
  } finally {
    await pool.destroy();
  }
}
