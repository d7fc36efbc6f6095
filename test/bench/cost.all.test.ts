import { afterAll, beforeAll, expect, test } from 'vitest';
import { contendersFor, OURS, startServer, startUpstream } from './contenders.ts';
import { type Cost, costOf } from './load.ts';
import type { Child } from './processes.ts';
import { WORKLOADS } from './requests.ts';

/**
 * The cost of a token in bytes and system calls, over HTTP, in the build: unlike its time, it is the same on a busy machine. README.md
 * has both figures. A change that is worth more raises them here and there.
 */
const KIB = 66;
const READS_AND_WRITES = 4;
const TOLERANCE = 1.1;

/** V8 allocates more until it has optimised the code, which takes longer on a busy machine: 5 to 15 s. */
const [REQUESTS, MOST_WINDOWS] = [2_000, 40];

const children: Child[] = [];
let cost: Cost | undefined;

beforeAll(async () => {
  const upstream = await startUpstream();
  children.push(upstream);
  const ours = contendersFor(upstream.url.origin).find(({ name }) => name === OURS);
  const token = WORKLOADS.find(({ name }) => name === 'token');
  if (!ours || !token) throw new Error('expected our server and a token');
  const server = await startServer(ours);
  children.push(server);
  for (let window = 0; window < MOST_WINDOWS; window += 1) {
    cost = await costOf(server, token, { requests: REQUESTS });
    if (cost.bytes < KIB * 1_024 * TOLERANCE) return;
  }
});
afterAll(async () => {
  for (const child of children) await child.end();
});

test('a warm token allocates 66 KiB', () => {
  expect((cost?.bytes ?? Number.NaN) / 1_024).toBeLessThan(KIB * TOLERANCE);
});

test('a token takes two reads and two writes', () => {
  expect(cost?.transfers).toBeLessThan(READS_AND_WRITES * TOLERANCE);
});
