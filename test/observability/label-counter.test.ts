import { expect, test } from 'vitest';
import { LabelCounter } from '../../src/observability/label-counter.ts';

function drained(counter: LabelCounter) {
  const counts: [string, string, number][] = [];
  counter.drain((...count) => counts.push(count));
  return counts;
}

test('each pair of labels has a count of its own', () => {
  const counter = new LabelCounter();
  for (const [first, second] of [
    ['a', 'x'],
    ['a', 'y'],
    ['b', 'x'],
    ['a', 'x'],
  ] as const)
    counter.increment(first, second);
  expect(drained(counter).sort()).toEqual([
    ['a', 'x', 2],
    ['a', 'y', 1],
    ['b', 'x', 1],
  ]);
});

test('draining starts again at zero', () => {
  const counter = new LabelCounter();
  expect(drained(counter)).toEqual([]);
  counter.increment('a', 'x');
  expect(drained(counter)).toEqual([['a', 'x', 1]]);
  expect(drained(counter)).toEqual([]);
  counter.increment('a', 'x');
  expect(drained(counter)).toEqual([['a', 'x', 1]]);
});
