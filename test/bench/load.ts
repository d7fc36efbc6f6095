import { Pool } from 'undici';
import { ROUTER_HEADERS } from './contenders.ts';
import { post } from './post.ts';
import { type Child, cpuMicrosOf } from './processes.ts';
import type { Workload } from './requests.ts';

/** The load generator. */

/** More than any answer takes, in ms. */
const PATIENCE_MS = 10_000;

/** Number of the last request; none is used twice. */
let last = 0;

/**
 * Keeps the connections of a workload busy, unmeasured for `warmUpMs` and then for `ms`.
 *
 * @returns CPU time of a request, in µs
 * @throws Error if a single byte of an answer is not as it should be: the cost of a wrong one means nothing
 */
export async function costOf(server: Child, workload: Workload, warmUpMs: number, ms: number): Promise<number> {
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
    const end = performance.now() + duration;
    let requests = 0;
    const lane = async () => {
      do {
        requests += 1;
        await send();
      } while (performance.now() < end);
    };
    await Promise.all(Array.from({ length: connections }, lane));
    return requests;
  };
  try {
    await loop(warmUpMs);
    // Every request that costs something is counted: none is under way at either reading.
    const before = cpuMicrosOf(server.pid);
    const requests = await loop(ms);
    return (cpuMicrosOf(server.pid) - before) / requests;
  } finally {
    await pool.destroy();
  }
}
