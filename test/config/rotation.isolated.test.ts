import { expect, test } from 'vitest';
import { ConfigError } from '../../src/config/parser.ts';
import { watchConfig } from '../../src/config/rotation.ts';
import type { Config } from '../../src/config/variables.ts';
import { LIVE, parse } from './support.ts';

/** The configuration is read again until the process ends, which is why this one is its own. */

test('a change is reported once, and so is a wrong configuration, for each change, which changes nothing', async () => {
  const first = parse(LIVE);
  const next = parse({ ...LIVE, CAPTCHA_CONFIGURATIONS: LIVE.CAPTCHA_CONFIGURATIONS.replace('key_shop', 'key_next') });
  const wrong =
    (...problems: string[]) =>
    () => {
      throw new ConfigError(problems);
    };
  let reads = 0;
  let now = (): Config => first;
  const read = () => {
    reads += 1;
    return now();
  };
  const reported: (Config | readonly string[])[] = [];
  const report = (found: Config | readonly string[]) => void reported.push(found);
  watchConfig(first, { read, everyMs: 2, onChange: report, onProblems: report });
  for (const each of [() => first, wrong('one'), wrong('one', 'two'), () => next]) {
    now = each;
    const until = reads + 5;
    await expect.poll(() => reads, { interval: 2 }).toBeGreaterThan(until);
  }
  expect(reported).toEqual([['one'], ['one', 'two'], next]);
});
