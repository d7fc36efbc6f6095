import { describe, expect, test } from 'vitest';
import { costOf, differenceOf, ratioOf } from './closed-loop.ts';
import { psMicros, statMicros } from './cpu.ts';
import { goalCells } from './goal-cells.ts';
import { goalsFor } from './goals.ts';
import { createRandom, shuffled } from './random.ts';
import type { Results } from './results.ts';
import { estimate, median, percentile } from './statistics.ts';
import { growthOf } from './steady.ts';

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

  // The ranks for 95 % in the tables of distribution-free intervals: 2 and 9 of 10 values, 8 and 18 of 25, 14 and 28 of 41.
  test.each([
    [10, 2, 9],
    [25, 8, 18],
    [41, 14, 28],
  ])('the interval of the median of %i values goes from number %i to number %i', (count, low, high) => {
    const values = Array.from({ length: count }, (_, at) => count - at);
    expect(estimate(values)).toEqual({ median: median(values), low, high });
  });

  test('of a few values, the interval is their range', () => {
    expect(estimate([3, 1, 2])).toEqual({ median: 2, low: 1, high: 3 });
    expect(estimate([])).toEqual({ median: Number.NaN, low: Number.NaN, high: Number.NaN });
  });

  test('what looks like chance follows from the seed, and every order is as likely as another', () => {
    const orders = (seed: number) => {
      const random = createRandom(seed);
      return Array.from({ length: 6_000 }, () => shuffled(['a', 'b', 'c'], random).join(''));
    };
    expect(orders(1)).toEqual(orders(1));
    expect(orders(1)).not.toEqual(orders(2));
    const counts = Map.groupBy(orders(1), (order) => order);
    expect([...counts.keys()].sort()).toEqual(['abc', 'acb', 'bac', 'bca', 'cab', 'cba']);
    // Five standard deviations of a binomial distribution around 1,000.
    for (const { length } of counts.values()) expect(Math.abs(length - 1_000)).toBeLessThan(145);
  });

  test('memory grows from the first quarter to the last one, after the first minutes', () => {
    const readings = [90, 70, 71, 72, 71, 73, 72, 74, 73].map((mebibytes, minute) => [minute, mebibytes] as const);
    expect(growthOf(readings, 1)).toBe(3); // from the median of 70 and 71 to that of 74 and 73
  });
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
      cpuMicros: { median: 100, low: 90, high: 200 },
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
    expect(ratioOf(ours, floor)).toEqual({ median: 3, low: 2, high: 3 });
    expect(differenceOf(ours, floor)).toEqual({ median: 200, low: 150, high: 600 });
    expect(ratioOf(ours, undefined)).toBeUndefined();
  });
});

describe('goals', () => {
  const cost = (cpuMicros: number) => ({
    cpuMicros: { median: cpuMicros, low: cpuMicros, high: cpuMicros },
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
  const nothing: Results = {
    environment: {
      date: '2026-03-01T08:30:00.000Z',
      commit: '0123abc',
      node: 'v24.0.0',
      cpu: 'a processor',
      cores: 2,
      loadBefore: 0.25,
      placement: 'not pinned: there is no taskset',
      packages: { graphql: '16.0.0' },
      undiciOfNode: '7.0.0',
      size: 'full',
    },
    run: { seed: 1, rounds: 1, roundMs: 150, loadAfter: 0.5 },
    closed: {},
  };
  const results: Results = {
    ...nothing,
    closed: {
      single: { 'ours single': cost(120), 'floor single': cost(60), 'mercurius single': cost(150) },
      growth: { 'ours growth-10': cost(1_000), 'ours growth-1000': cost(80_000) },
      attestation: { 'ours captcha': cost(100), 'ours attested': cost(225) },
      sealed: { 'ours sealed': cost(12_500) },
      decision: { 'ours undecided': cost(4_000), 'ours decided': cost(4_050) },
      scopes: { 'ours single': cost(121), 'ours-without-scopes single': cost(120) },
      references: { 'ours good-references': cost(400), 'ours rejected-references': cost(600) },
      rotation: { 'ours single': cost(100), 'ours rotation': cost(130), 'ours rotation-fields': cost(131) },
      new: {
        'ours new': cost(900),
        'mercurius new': cost(1_000),
        'ours new-fields': cost(900),
        'mercurius new-fields': cost(800),
      },
      invalid: { 'ours invalid': cost(60) },
    },
    firstRequests: {
      _service: { median: 4, most: 6, next: 1 },
      signalCatalogue: { median: 6, most: 9, next: 1 },
    },
    replicas: {
      rate: 2_000,
      busyAlone: 0.2,
      busyBeside: 0.21,
      scaling: { median: 1.95, low: 1.9, high: 2 },
      mostOfOne: 10_000,
      mostOfTwo: 12_000,
    },
    latency: { ours: paced },
    coldStart: { ours: 150, 'apollo-fetch': 300 },
    memory: { ours: memory(130), floor: memory(100) },
  };

  test('each goal says how far it is', () => {
    expect(goalsFor(results).map(({ measured, wanted, met }) => [measured, wanted, met])).toEqual([
      [2, 1.25, false], // 120 to 60
      [0.8, 0.85, true], // 120 to 150
      [0.8, 1, true], // 80 a reference to 100
      [125, 130, true],
      [12.5, 10, false], // ms
      [0.5, 1, true], // 50 µs for 100 decisions
      [121 / 120, 1, false],
      [0.9, 1, true],
      [1.125, 1, false], // other fields
      [1.3, 1.3, true],
      [1.31, 1.3, false], // other fields
      [60, 100, true],
      [1.5, 1, false],
      [6, 5, false], // the slower of both root fields
      [3.25, 5, true],
      [0.5, 0.6, true],
      [1.3, 1.3, true],
      [1.95, 1.9, true], // at least
    ]);
  });

  test('a row of the table says what was wanted, and how sure the figure is', () => {
    const [goal] = goalsFor({ ...nothing, replicas: results.replicas ?? expect.fail() });
    expect(goal && goalCells(goal)).toEqual([
      'two replicas: answers for the same CPU, to one',
      'at least 1.9',
      '1.95',
      '1.90 to 2.00',
      'yes',
    ]);
  });

  test('a goal that nothing was measured for is left out', () => {
    expect(goalsFor({ ...nothing, closed: { single: { 'ours single': cost(120) } } })).toEqual([]);
  });
});
