import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { ConfigError } from '../../src/config/parser.ts';
import { stampOf, watchConfig } from '../../src/config/rotation.ts';
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
  // A file that changes with each find.
  let stamp = 0;
  watchConfig(
    first,
    () => `${stamp}`,
    () => now(),
    report,
    report,
  );
  for (const find of finds) {
    if (now !== find) stamp += 1;
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

test('a file is read while it changes, and once more, but not while it stays as it is', () => {
  let [stamp, reads] = ['a', 0];
  const read = () => {
    reads += 1;
    return first;
  };
  const refuse = () => expect.fail('nothing is wrong');
  watchConfig(first, () => stamp, read, refuse, refuse);
  const readsAfter = (polls: number) => {
    vi.advanceTimersByTime(polls * INTERVAL_MS);
    return reads;
  };
  expect(readsAfter(10)).toBe(1);
  stamp = 'b';
  expect(readsAfter(10)).toBe(3);
});

test('the stamp of files changes with their content, and with a link to another folder, as Kubernetes mounts secrets', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stamp-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [path, link] = [join(folder, 'data/key'), join(folder, 'data')];
  const stamps = new Set([stampOf([path])]);
  for (const version of ['one', 'two']) {
    await mkdir(join(folder, version));
    await writeFile(join(folder, version, 'key'), 'same');
    await symlink(version, `${link}.new`);
    await rename(`${link}.new`, link);
    stamps.add(stampOf([path]));
  }
  await writeFile(path, 'more');
  expect(stamps.add(stampOf([path])).size).toBe(4);
  expect(stampOf([path])).toBe(stampOf([path]));
});
