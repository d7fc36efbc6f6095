import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { MAIN, ROOT, startCommand, startProcess } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { type Context, LIVE, objectsOn, preload, SANDBOX, startServing } from './environments.ts';

/** What the real process writes on stdout, in which form, and how much of it, until it stops or crashes. */

/** Everything on stdout, from start to end, of a process that answers one question well, if it can, and one badly. */
async function writtenWith(context: Context, env: Readonly<Record<string, string>>): Promise<string> {
  const { child, graphqlUrl } = await startServing(context, env);
  for (const token of ['sandbox:web', 'sandbox:error:500']) await ask(graphqlUrl, FINGERPRINT_QUERY, { token });
  expect(await child.end('SIGTERM')).toBe(0);
  expect(child.stderr()).toBe('');
  return child.stdout();
}

const AT_INFO = [
  'INFO: ready',
  'INFO <anyone>: operation',
  'WARN: The service',
  'INFO <anyone>: operation',
  'INFO: stopping',
  'INFO: stopped',
];

// Without the check of the accounts, which has more to say on a machine that is busy.
const QUIET = { ...SANDBOX, UPSTREAM_CHECK: 'off' };

describe('in sandbox mode the log is formatted for people, without colours', () => {
  test.for([
    ['info', AT_INFO],
    ['warn', ['WARN: The service']],
  ] as const)('LOG_LEVEL %s', async ([level, expected], context) => {
    const written = await writtenWith(context, { ...QUIET, LOG_LEVEL: level });
    const lines = [...written.matchAll(/^\[[\d:.]+\] ([A-Z]+(?: <\w+>)?: (?:The service|\S+))/gm)].map(
      ([, line = '']) => line,
    );
    expect(lines).toEqual(expected);
    // Hashes of tokens are for those who ask for them.
    for (const absent of ['tokens', '\u001b']) expect(written).not.toContain(absent);
  });
});

describe('the log is JSON, one object a line', () => {
  test('in live mode, where it is all of stdout, and has hashes of tokens for those who debug', async (context) => {
    const tokens = [expect.stringMatching(/^[\da-f]{12}$/)];
    expect(objectsOn(await writtenWith(context, { ...LIVE, LOG_LEVEL: 'debug' }))).toMatchObject([
      { level: 'info', msg: 'ready', upstreams: 'live' },
      { level: 'warn', code: 'UPSTREAM_UNAVAILABLE', field: 'deviceFingerprint' },
      { level: 'info', msg: 'operation', errors: ['UPSTREAM_UNAVAILABLE'], tokens },
      { level: 'warn', code: 'UPSTREAM_UNAVAILABLE' },
      { level: 'info', msg: 'operation', tokens },
      { level: 'info', msg: 'stopping' },
      { level: 'info', msg: 'stopped' },
    ]);
  });

  test('in sandbox mode as well if only production dependencies are installed', async (context) => {
    const written = await writtenWith(context, { ...QUIET, ...preload('production dependencies') });
    const lines = written.split('\n').filter((line) => line.startsWith('{'));
    const messages = lines.map((line) => JSON.parse(line).msg);
    const warning = expect.stringContaining('The service');
    expect(messages).toEqual(['ready', 'operation', warning, 'operation', 'stopping', 'stopped']);
  });
});

test('the log continues on stderr once stdout is closed, and the server goes on', async ({ onTestFinished }) => {
  const { PATH = '' } = process.env;
  const script = `exec "${process.execPath}" ${MAIN} > >(head -n 1 >&2)`;
  const env = { PATH, ADMIN_PORT: '0', ...LIVE };
  const child = startCommand(['bash', '--norc', '-c', script], { cwd: ROOT, env });
  onTestFinished(child.stop);
  await expect.poll(child.stderr, { timeout: 20_000 }).toContain('"ready"');
  const [, graphqlUrl = ''] = /"url":"([^"]+)"/.exec(child.stderr()) ?? [];
  for (const name of ['A', 'B', 'C']) {
    expect(await ask(graphqlUrl, `query ${name} { __typename }`)).toMatchObject({ status: 200 });
    // The time of more than one write.
    await sleep(150);
  }
  await expect.poll(child.stderr).toContain('"operation":"C"');
  expect(await child.end('SIGTERM')).toBe(0);
});

describe.concurrent('a crash ends the process with 1, and leaves a line with the stack frames and without the message', () => {
  const CANARY = 'tok_canary_9f8e7d';
  const frames = expect.arrayContaining([expect.stringMatching(/^at (\w+\.)?throwIt .*preload\.ts:\d+/)]);

  test.for([
    ['exception at SIGUSR2', { name: 'TypeError', frames }],
    // An Error of Node's own, which quotes the text.
    ['rejection at SIGUSR2 with a text', { name: 'UnhandledPromiseRejection', frames: expect.any(Array) }],
  ] as const)('%s', async ([purpose, error], context) => {
    const { child } = await startServing(context, { ...LIVE, ...preload(purpose), CANARY });
    expect(await child.end('SIGUSR2')).toBe(1);
    expect(objectsOn(child.stdout()).at(-1)).toEqual({
      level: 'fatal',
      time: expect.any(String),
      error,
      msg: 'the process crashed',
    });
    expect(child.stdout()).not.toContain(CANARY);
    expect(child.stderr()).toBe('');
  });

  test('formatted for people in sandbox mode', async (context) => {
    const { child } = await startServing(context, { ...SANDBOX, ...preload('rejection at SIGUSR2'), CANARY });
    expect(await child.end('SIGUSR2')).toBe(1);
    expect(child.stdout()).toMatch(/FATAL.*: the process crashed\n[\s\S]*TypeError[\s\S]*at throwIt /);
    expect(child.stdout() + child.stderr()).not.toContain(CANARY);
  });

  test('on stderr before there is a log', async ({ onTestFinished }) => {
    const child = startProcess(MAIN, { ...SANDBOX, ...preload('exception at the start'), CANARY });
    onTestFinished(child.stop);
    expect(await child.ended).toBe(1);
    expect(child.stdout()).toBe('');
    expect(child.stderr()).toMatch(/^The process crashed: TypeError\n( {2}at .*\n)+$/);
    expect(child.stderr()).not.toContain(CANARY);
  });
});
