import { setTimeout as sleep } from 'node:timers/promises';
import type { Contender } from './contenders.ts';
import { memoryOf } from './cpu.ts';
import type { Size } from './sizes.ts';
import { median } from './statistics.ts';
import { jobFor, type Running, type Testbed } from './testbed.ts';

/** Memory in RAM, in MiB. */
export interface Memory {
  /** After the start, before any request. */
  readonly idle: number;
  /** Once it grows no more under the full query: median of the last readings. */
  readonly loaded: number;
  /** The most there was by then, where the system says. */
  readonly peak: number | undefined;
}

const SETTLE_MS = 300;
const STEPS = 12;
/** On a busy machine the time alone is too little for V8 to optimise anything, so it can take three times as long. */
const MOST_STEPS = 36;
const READINGS = 3;

/**
 * Starts a contender and puts load on it for several seconds before anyone measures its CPU: V8 optimises what it has seen
 * often, and the heap grows to what it will be.
 */
export async function startWarm(
  testbed: Testbed,
  contender: Contender,
  { firstWarmUpMs, warmRequests }: Size,
  env: Contender['env'] = {},
): Promise<{ running: Running; memory: Memory }> {
  const running = await testbed.start(contender, { env });
  await sleep(SETTLE_MS);
  const { rss: idle } = memoryOf(running.pid);
  const job = { ...(await jobFor(running, 'single')), warmUpMs: 0, ms: firstWarmUpMs / STEPS };
  const readings: number[] = [];
  let sent = 0;
  for (let step = 0; step < STEPS || (sent < warmRequests && step < MOST_STEPS); step += 1) {
    sent += (await testbed.load(job)).requests;
    readings.push(memoryOf(running.pid).rss);
  }
  return { running, memory: { idle, loaded: median(readings.slice(-READINGS)), peak: memoryOf(running.pid).peak } };
}
