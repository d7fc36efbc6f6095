import { describe, expect, test } from 'vitest';
import { costOf, ratioOf } from './closed-loop.ts';
import { psMicros, statMicros } from './cpu.ts';
import { goalsFor } from './goals.ts';
import type { Results } from './results.ts';
import { median, percentile, spread } from './statistics.ts';

/** The arithmetic behind the figures of README.md beside this file, with figures that were worked out by hand. */

describe('statistics', () => {
  test('the median is the middle value, whatever the order', () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([10, 1, 4, 2])).toBe(3);
    expect(median([])).toBeNaN();
  });

  test('a percentile is a value that occurred', () => {
    const values = Array.from({ length: 200 }, (_, at) => 200 - at);
    expect(percentile(values, 50)).toBe(100);
    expect(percentile(values, 99)).toBe(198);
    expect(percentile([7], 99)).toBe(7);
    expect(percentile([], 50)).toBeNaN();
  });

  test('the spread is a part of the median', () => expect(spread([90, 100, 120])).toBe(0.3));
});

describe('CPU time', () => {
  test('user and system time of a process whose name tries to confuse', () => {
    // 25 and 17 hundredths of a second.
    const stat = '4711 (node) 9 (x) S 1 2 3 0 -1 4194560 5881 910284 0 123 25 17 2923 1712 20 0 11 0 1117295';
    expect(statMicros(stat)).toBe(420_000);
  });

  test.each([
    ['0:01.50\n', 1_500_000],
    ['01:02:03', 3_723_000_000],
    ['2-00:00:01', 172_801_000_000],
  ])('CPU time as ps writes it: %s', (text, micros) => expect(psMicros(text)).toBe(micros));
});

describe('costs', () => {
  const round = (cpuMicros: number, requests: number) => ({
    cpuMicros,
    requests,
    waitedMicros: 50_000,
    seconds: 0.5,
    p50: 1,
    p99: 2,
  });

  test('are medians over the rounds', () => {
    const cost = costOf([round(100_000, 1_000), round(400_000, 2_000), round(90_000, 1_000)]);
    expect(cost).toEqual({
      cpuMicros: 100,
      rounds: [100, 200, 90],
      rate: 2_000,
      p50: 1,
      p99: 2,
      busy: 0.2,
      waited: 0.1,
    });
  });

  test('are compared round by round, so that one that was slow for both does not count', () => {
    const ours = costOf([round(300, 1), round(900, 1), round(300, 1)]);
    const floor = costOf([round(100, 1), round(300, 1), round(150, 1)]);
    expect(ratioOf(ours, floor)).toBe(3);
    expect(ratioOf(ours, undefined)).toBeNaN();
  });
});

describe('goals', () => {
  const cost = (cpuMicros: number) => ({
    cpuMicros,
    rounds: [cpuMicros],
    rate: 5_000,
    p50: 1.25,
    p99: 4,
    busy: 0.98,
    waited: 0.02,
  });
  const memory = (loaded: number) => ({ idle: 70, loaded, peak: undefined });
  const paced = {
    rate: 2_500,
    p50: 6,
    p99: 9.5,
    directP99: 6.25,
    addedP50: 0.7,
    addedP99: 3.25,
    cpuMicros: 120,
    waited: Number.NaN,
  };
  const results: Results = {
    environment: {
      date: '2026-03-01T08:30:00.000Z',
      node: 'v24.0.0',
      cpu: 'a processor',
      cores: 2,
      loadBefore: 0.25,
      placement: 'not pinned: there is no taskset',
      packages: { graphql: '16.0.0' },
      size: 'full',
    },
    closed: { single: { ours: cost(120), floor: cost(60), mercurius: cost(100), yoga: cost(240) } },
    growth: { 10: { ours: cost(1_000) }, 1000: { ours: cost(80_000) } },
    latency: { ours: paced },
    coldStart: { ours: 150, 'apollo-fetch': 300 },
    memory: { ours: memory(130), floor: memory(100) },
  };

  test('each goal says how far it is', () => {
    expect(goalsFor(results).map(({ measured, wanted, met }) => [measured, wanted, met])).toEqual([
      [2, 1.5, false], // 120 to 60
      [1.2, 1, false], // 120 to the 100 of Mercurius, not to the 240 of Yoga
      [0.8, 1, true], // 80 an entity to 100
      [3.25, 5, true],
      [0.5, 0.6, true],
      [1.3, 1.3, true],
    ]);
  });

  test('a goal that nothing was measured for is left out', () => {
    const { environment } = results;
    expect(goalsFor({ environment, closed: { single: { ours: cost(120) } } })).toEqual([]);
  });
});
