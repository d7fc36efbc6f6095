import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ConfigError } from '../../src/config/parser.ts';
import { watchConfig } from '../../src/config/rotation.ts';
import type { Config } from '../../src/settings/variables.ts';
import { LIVE, parse } from './support.ts';

/** The configuration is read again until the process ends, which is why this one is its own. */

const withKey = (key: string) =>
  parse({ ...LIVE, CAPTCHA_CONFIGURATIONS: LIVE.CAPTCHA_CONFIGURATIONS.replace('key_shop', key) });
const [first, next] = [parse(LIVE), withKey('key_next')];
const wrong =
  (...problems: string[]) =>
  () => {
    throw new ConfigError(problems);
  };
const INTERVAL_MS = 2_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What is reported when the reads find these, one after the other. */
function reportsOf(finds: readonly (() => Config)[]): (Config | readonly string[])[] {
  const reported: (Config | readonly string[])[] = [];
  const report = (found: Config | readonly string[]) => void reported.push(found);
  let now = (): Config => first;
  watchConfig(first, () => now(), report, report);
  for (const find of finds) {
    now = find;
    vi.advanceTimersByTime(INTERVAL_MS);
  }
  return reported;
}

const same = (): Config => first;
const changed = (): Config => next;
const tooDeep = () => parse({ ...LIVE, SEALING_KEYS: '['.repeat(60_000) + ']'.repeat(60_000) });
test.each<[string, readonly (() => Config)[], readonly unknown[]]>([
  ['a change, once', [same, changed, changed, changed], [next]],
  [
    'what is wrong, once for each change',
    [wrong('one'), wrong('one'), wrong('one'), wrong('two'), wrong('two')],
    [['one'], ['two']],
  ],
  [
    'what makes the parser itself fail',
    [tooDeep, tooDeep, changed, changed],
    [['The files cannot be read: RangeError.'], next],
  ],
  [
    'what was wrong and is again as it was before',
    [wrong('one'), wrong('one'), same, same, changed, changed],
    [['one'], first, next],
  ],
  ['nothing of a file that is half-written when it is read', [() => withKey('key_ne'), changed, changed], [next]],
  ['nothing of one that is broken until it is whole', [wrong('one'), wrong('two'), changed, changed], [next]],
  ['nothing of what is taken back', [changed, same, same], []],
])('%s is reported', (_what, finds, expected) => {
  expect(reportsOf(finds)).toEqual(expected);
});
