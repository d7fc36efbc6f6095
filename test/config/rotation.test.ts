import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ConfigError } from '../../src/config/parser.ts';
import { watchConfig } from '../../src/config/rotation.ts';
import type { Config } from '../../src/config/variables.ts';
import { LIVE, parse } from './support.ts';

/** The clock is a fake one, so that minutes take no time; test/process/rotation.test.ts has a real one. */

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const first = parse(LIVE);
const next = parse({ ...LIVE, CAPTCHA_CONFIGURATIONS: LIVE.CAPTCHA_CONFIGURATIONS.replace('key_shop', 'key_next') });

function watch(read: () => Config) {
  const changes: Config[] = [];
  const problems: (readonly string[])[] = [];
  const onChange = (config: Config) => changes.push(config);
  watchConfig(first, { read, everyMs: 2_000, onChange, onProblems: (found) => problems.push(found) });
  return { changes, problems };
}

test('a change is reported once, within the interval', () => {
  let now = first;
  const { changes } = watch(() => now);
  vi.advanceTimersByTime(10_000);
  expect(changes).toEqual([]);
  now = next;
  vi.advanceTimersByTime(2_000);
  expect(changes).toEqual([next]);
  vi.advanceTimersByTime(60_000);
  expect(changes).toEqual([next]);
});

test('a wrong configuration is reported once for each change, and changes nothing', () => {
  let read = (): Config => {
    throw new ConfigError(['one']);
  };
  const { changes, problems } = watch(() => read());
  vi.advanceTimersByTime(10_000);
  read = () => {
    throw new ConfigError(['one', 'two']);
  };
  vi.advanceTimersByTime(10_000);
  expect(problems).toEqual([['one'], ['one', 'two']]);
  read = () => next;
  vi.advanceTimersByTime(10_000);
  expect([changes, problems.length]).toEqual([[next], 2]);
});
