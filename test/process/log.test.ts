import { describe, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/fingerprint/policy.ts';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { MAIN, startProcess } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { untilEnd } from '../support/until-end.ts';
import { type Context, LIVE, objectsOn, preload, SANDBOX, startServing } from './environments.ts';

/** What the real process writes on stdout, in which form, and how much of it, until it stops or crashes. */

/** What no line may have: what somebody sent, and an error quotes. */
const CANARY = 'tok_canary_9f8e7d';

/** Everything on stdout, from start to end, of a process that answers one question well, if it can, and one badly. */
async function writtenWith(
  context: Context,
  env: Readonly<Record<string, string>>,
  [signal, code]: readonly [NodeJS.Signals, number] = ['SIGTERM', 0],
): Promise<string> {
  const { child, graphqlUrl } = await startServing(context, env);
  for (const token of ['sandbox:web', 'sandbox:error:500']) await ask(graphqlUrl, FINGERPRINT_QUERY, { token });
  expect(await child.end(signal)).toBe(code);
  expect(child.stderr()).toBe('');
  return child.stdout();
}

// Without the check of the accounts, which has more to say on a machine that is busy.
const QUIET = { ...SANDBOX, UPSTREAM_CHECK: 'off' };

// Hashes of tokens are for those who debug.
const ABSENT = /tokens|\[\d+m/;

/** Time, level, caller and the first word of each line, but two of those that are for people. */
const linesIn = (written: string) =>
  [...written.matchAll(/^\[[\d:.]+\] ([A-Z]+(?: <\w+>)?: (?:The service|the process|\S+))/gm)].map(([, line]) => line);

test('the log of sandbox mode is formatted for people at LOG_LEVEL info', async (context) => {
  const written = await writtenWith(context, { ...QUIET, LOG_LEVEL: 'info' });
  expect(linesIn(written)).toEqual([
    'INFO: ready',
    'INFO: callers:',
    'INFO <anyone>: operation',
    'WARN: The service',
    'INFO <anyone>: operation',
    'INFO: stopping',
    'INFO: stopped',
  ]);
  expect(written).not.toMatch(ABSENT);
});

test('the log of sandbox mode is formatted for people at LOG_LEVEL warn, until a crash, which ends it with 1', async (context) => {
  const env = { ...QUIET, LOG_LEVEL: 'warn', ...preload('rejection at SIGUSR2'), CANARY };
  const written = await writtenWith(context, env, ['SIGUSR2', 1]);
  expect(linesIn(written)).toEqual(['WARN: The service', 'FATAL: the process']);
  expect(written).toMatch(/FATAL.*: the process crashed\n[\s\S]*TypeError[\s\S]*at throwIt /);
  expect(written).not.toMatch(ABSENT);
  expect(written).not.toContain(CANARY);
});

test('the log of live mode is JSON, one object a line, all of stdout, with hashes of tokens for those who debug', async (context) => {
  const tokens = [expect.stringMatching(/^[\da-f]{12}$/)];
  const lines = objectsOn(await writtenWith(context, { ...LIVE, LOG_LEVEL: 'debug' }));
  // On a busy machine probes find out meanwhile that nobody listens at the upstream.
  expect(lines.filter(({ health }) => health === undefined)).toMatchObject([
    { level: 'info', msg: 'ready', upstreams: 'live' },
    { level: 'info', msg: expect.stringContaining(`policy: ${DEFAULT_POLICY.id}, built-in`) },
    { level: 'warn', msg: expect.stringContaining('Anyone with access to this port') },
    { level: 'warn', code: 'UPSTREAM_UNAVAILABLE', field: 'deviceFingerprint' },
    { level: 'info', msg: 'operation', errors: ['UPSTREAM_UNAVAILABLE'], tokens },
    { level: 'warn', code: 'UPSTREAM_UNAVAILABLE' },
    { level: 'info', msg: 'operation', tokens },
    { level: 'info', msg: 'stopping' },
    { level: 'info', msg: 'stopped' },
  ]);
});

test('the log of sandbox mode is JSON if only production dependencies are installed', async (context) => {
  const written = await writtenWith(context, { ...QUIET, ...preload('production dependencies') });
  const lines = written.split('\n').filter((line) => line.startsWith('{'));
  const messages = lines.map((line) => JSON.parse(line).msg);
  const warning = expect.stringContaining('The service');
  expect(messages).toEqual([
    'ready',
    expect.stringContaining('scopes: '),
    'operation',
    warning,
    'operation',
    'stopping',
    'stopped',
  ]);
});

describe.concurrent('a crash ends the process with 1, and leaves a line with the stack frames and without the message', () => {
  const frames = expect.arrayContaining([expect.stringMatching(/^at (\w+\.)?throwIt .*preload\.ts:\d+/)]);

  const code = 'ERR_UNHANDLED_REJECTION';
  test.for([
    // An Error of Node's own, which quotes the text.
    [
      'rejection at SIGUSR2 with a text',
      'SIGUSR2',
      'the process crashed',
      { name: 'UnhandledPromiseRejection', code, frames: expect.any(Array) },
    ],
    ['exception while it stops', 'SIGTERM', 'the stop failed', { name: 'TypeError', frames }],
  ] as const)('a crash leaves a line without the message: %s', async ([purpose, signal, msg, error], context) => {
    const { child } = await startServing(context, { ...LIVE, ...preload(purpose), CANARY });
    expect(await child.end(signal)).toBe(1);
    expect(objectsOn(child.stdout()).at(-1)).toEqual({ level: 'fatal', time: expect.any(String), error, msg });
    expect(child.stdout()).not.toContain(CANARY);
    expect(child.stderr()).toBe('');
  });

  test('a crash before there is a log ends the process with 1, with the stack frames on stderr', async (context) => {
    const env = { ...SANDBOX, ...preload('exception at the start'), CANARY };
    const child = await untilEnd(startProcess(MAIN, env), context);
    expect(await child.ended).toBe(1);
    expect(child.stdout()).toBe('');
    expect(child.stderr()).toMatch(/^The process crashed: TypeError\n( {2}at .*\n)+$/);
    expect(child.stderr()).not.toContain(CANARY);
  });
});
