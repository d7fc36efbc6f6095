import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startGroup } from '../support/process-group.ts';
import { capacityFor, PLANNED } from './capacity.ts';

/** `npm run capacity` still measures, in its shortest form, and Little's law holds for what it sees. */

test('it compares the function with one replica, and leaves no process behind', { timeout: 180_000 }, async () => {
  const json = join(tmpdir(), `device-trust-capacity-${process.pid}.json`);
  onTestFinished(() => rm(json, { force: true }));
  const { ended, stdout, stderr, stop, expectNothingLeft } = startGroup(
    'test/capacity/main.ts',
    '--smoke',
    '--json',
    json,
  );
  onTestFinished(stop);
  // A busy machine, or code that is not optimised yet, needs more CPU time than planned: then its code is 1.
  expect([0, 1]).toContain(await ended);
  expect(stderr()).not.toMatch(/fail|Error/);
  expect(stdout()).toMatch(/^ {2}sockets at the limit .* (yes|no)$/m);
  await expectNothingLeft();

  const { points } = JSON.parse(await readFile(json, 'utf8'));
  expect(points).toHaveLength(1);
  const [{ latencyMs, measuredLatencyMs, requestsPerSecond, comparisons }] = points;
  expect(latencyMs).toBe(100);
  expect(measuredLatencyMs).toBeGreaterThan(99);
  expect(comparisons.map(({ what }: { what: string }) => what)).toEqual([
    'calls in flight',
    'CPU, cores',
    'log, bytes a request',
    'most requests a second',
    'sockets at the limit',
  ]);
  const [inFlight, , logBytes, , sockets] = comparisons;
  // The rate is the measured one, and so is the latency, which leaves the stalls of this machine out.
  expect(inFlight.computed).toBeCloseTo((requestsPerSecond * measuredLatencyMs) / 1_000, 5);
  // Calls come and go between two looks, and there are few of them: three of nine at most.
  expect(Math.abs(inFlight.measured - inFlight.computed)).toBeLessThan(Math.max(3, inFlight.computed * 0.15));
  expect(Math.abs(logBytes.measured - PLANNED.logBytes)).toBeLessThan(PLANNED.logBytes * 0.3);
  // A call that comes in the very turn in which another one ends opens a socket of its own.
  expect(sockets.measured).toBeLessThanOrEqual(16 * 2);
});

test("the function is Little's law, with the larger of the two needs", () => {
  // 1,000 a second for half a second are 500 under way; two replicas have 512 together, of which half is planned with.
  const replica = {
    ...PLANNED,
    maxInFlight: 256,
    inFlightShare: 0.5,
    cpuMicros: 100,
    cpuBase: 0,
    cpuShare: 0.5,
    minReplicas: 1,
  };
  const load = { requestsPerSecond: 1_000, latencyMs: 500, callsPerRequest: 1 };
  expect(capacityFor(load, { ...replica, logBytes: 200, logSample: 0.1 })).toEqual({
    callsInFlight: 500,
    replicas: 4,
    sockets: 1_024,
    cores: 0.1,
    logBytesPerDay: 1_728_000_000,
    eventsPerDay: 86_400_000,
  });
  expect(capacityFor({ ...load, latencyMs: 1 }, { ...replica, cpuMicros: 2_000 }).replicas).toBe(4);
  expect(capacityFor({ ...load, callsPerRequest: 3 }, replica)).toMatchObject({ callsInFlight: 1_500, replicas: 12 });
  expect(capacityFor({ ...load, latencyMs: 1 }, { ...replica, minReplicas: 3 }).replicas).toBe(3);
});
