import { describe, expect, test } from 'vitest';
import { parseOptions } from './options.ts';

describe('options', () => {
  test('everything, unless something is chosen', () => {
    const { size, only, workloads } = parseOptions([]);
    expect([size, only.length, workloads.length]).toEqual(['full', 6, 10]);
    const chosen = parseOptions(['--quick', '--only', 'floor,ours', '--workload', 'growth,single', '--json', 'a.json']);
    expect(chosen).toEqual({
      size: 'quick',
      only: ['ours', 'floor'],
      workloads: ['single', 'growth'],
      json: 'a.json',
      profile: false,
    });
  });

  test('a name that does not exist is told', () => {
    expect(() => parseOptions(['--only', 'ours,theirs'])).toThrow('no contender theirs; there is ours, floor');
    expect(() => parseOptions(['--workload', 'none'])).toThrow('no workload none');
    expect(() => parseOptions(['--fast'])).toThrow('--fast');
  });
});
