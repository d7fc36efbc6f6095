import { afterEach, expect, test } from 'vitest';
import { MAIN, startProcess, type TestProcess } from '../support/process.ts';
import { LIVE, SANDBOX } from './environments.ts';

/** A process that crashes leaves one line with the stack frames and without the message. */

const CANARY = 'tok_canary_9f8e7d';

let child: TestProcess | undefined;
afterEach(() => child?.stop());

function start(crash: string, env: Readonly<Record<string, string>>): TestProcess {
  child = startProcess(MAIN, {
    NODE_OPTIONS: '--import=./test/process/crash-on-signal.ts',
    CRASH: crash,
    CANARY,
    PORT: '0',
    ADMIN_PORT: '0',
    ...env,
  });
  return child;
}

const frames = expect.arrayContaining([expect.stringMatching(/^at (Object\.)?throwIt .*crash-on-signal\.ts:\d+/)]);

test.each([
  ['exception', { name: 'TypeError', frames }],
  ['rejection', { name: 'TypeError', frames }],
  ['exception with a text', { name: 'not an Error', frames: [] }],
  // An Error of Node's own, which quotes the text.
  ['rejection with a text', { name: 'UnhandledPromiseRejection', frames: expect.any(Array) }],
])('one uncaught %s ends the process with 1 and a line', async (crash, error) => {
  const { waitFor, end, stdout, stderr } = start(crash, LIVE);
  await waitFor(/"ready"/);
  expect(await end('SIGUSR2')).toBe(1);
  const last = JSON.parse(stdout().trimEnd().split('\n').at(-1) ?? '');
  expect(last).toEqual({ level: 'fatal', time: expect.any(String), error, msg: 'the process crashed' });
  expect(stdout() + stderr()).not.toContain(CANARY);
  expect(stderr()).toBe('');
});

test('in sandbox mode the line is formatted for people', async () => {
  const { waitFor, end, stdout, stderr } = start('rejection', SANDBOX);
  await waitFor(/Apollo Sandbox at/);
  expect(await end('SIGUSR2')).toBe(1);
  expect(stdout()).toMatch(/FATAL.*: the process crashed\n[\s\S]*TypeError[\s\S]*at throwIt /);
  expect(stdout() + stderr()).not.toContain(CANARY);
});

test('before there is a log, the crash is reported on stderr', async () => {
  const { ended, stdout, stderr } = start('at the start', SANDBOX);
  expect(await ended).toBe(1);
  expect(stdout()).toBe('');
  expect(stderr()).toMatch(/^The process crashed: TypeError\n( {2}at .*\n)+$/);
  expect(stderr()).not.toContain(CANARY);
});
