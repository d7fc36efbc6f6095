import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { MAIN, ROOT, startCommand, startProcess, type TestProcess } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { LIVE, SANDBOX } from './environments.ts';

/** What the real process writes, in which form, and how much of it. */

let child: TestProcess | undefined;
afterEach(() => child?.stop());

/** Everything on stdout, from start to end, of a process that answers one question well, if it can, and one badly. */
async function writtenWith(env: Readonly<Record<string, string>>, urlIn: RegExp): Promise<string> {
  child = startProcess(MAIN, { PORT: '0', ADMIN_PORT: '0', SHUTDOWN_GRACE_MS: '0', ...env });
  const [, graphqlUrl = ''] = await child.waitFor(urlIn);
  for (const token of ['sandbox:web', 'sandbox:error:500']) await ask(graphqlUrl, FINGERPRINT_QUERY, { token });
  expect(await child.end('SIGTERM')).toBe(0);
  expect(child.stderr()).toBe('');
  return child.stdout();
}

const IN_JSON = /"url":"([^"]+)"/;
/** The greeting of the sandbox, which is no part of the log. */
const IN_GREETING = /Device trust is at (\S+),/;

const AT_INFO = [
  'INFO: ready',
  'INFO <anyone>: operation',
  'WARN: The service',
  'INFO <anyone>: operation',
  'INFO: stopping',
  'INFO: stopped',
];

describe('LOG_LEVEL', () => {
  /** The sandbox has ten accounts, four of which are meant to be refused. Each has a line for those who debug. */
  const ACCOUNTS = 10;

  test.each([
    ['trace', AT_INFO, ACCOUNTS],
    ['debug', AT_INFO, ACCOUNTS],
    ['info', AT_INFO, 0],
    ['warn', ['WARN: The service'], 0],
    ['error', [], 0],
    ['fatal', [], 0],
    ['silent', [], 0],
  ])('%s', async (level, expected, accounts) => {
    const written = await writtenWith({ ...SANDBOX, LOG_LEVEL: level }, IN_GREETING);
    const lines = [...written.matchAll(/^\[[\d:.]+\] ([A-Z]+(?: <\w+>)?: (?:The service|\S+))/gm)].map(
      ([, line = '']) => line,
    );
    const isDebug = (line: string) => line.startsWith('DEBUG');
    expect(lines.filter((line) => !isDebug(line))).toEqual(expected);
    expect(lines.filter(isDebug)).toHaveLength(accounts);
    // Hashes of tokens are for those who ask for them.
    expect(/tokens/.test(written)).toBe(['trace', 'debug'].includes(level));
  });
});

describe('the form of a line', () => {
  test('is JSON in live mode, one object a line', async () => {
    const lines = (await writtenWith(LIVE, IN_JSON)).trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'info', msg: 'ready', upstreams: 'live' },
      { level: 'warn', code: 'UPSTREAM_UNAVAILABLE', field: 'deviceFingerprint' },
      { level: 'info', msg: 'operation', errors: ['UPSTREAM_UNAVAILABLE'] },
      { level: 'warn', code: 'UPSTREAM_UNAVAILABLE' },
      { level: 'info', msg: 'operation' },
      { level: 'info', msg: 'stopping' },
      { level: 'info', msg: 'stopped' },
    ]);
  });

  test('is formatted for people in sandbox mode, without colours if stdout is not a terminal', async () => {
    const written = await writtenWith(SANDBOX, IN_GREETING);
    expect(written).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO <anyone>: operation\n {4}requestId: "[\da-f-]{36}"\n/m);
    expect(written).not.toMatch(/^\{/m);
    expect(written).not.toContain('\u001b');
  });

  test('is JSON in sandbox mode as well if only production dependencies are installed', async () => {
    const env = { ...SANDBOX, NODE_OPTIONS: '--import=./test/process/without-development.ts' };
    const written = await writtenWith(env, IN_GREETING);
    const lines = written.split('\n').filter((line) => line.startsWith('{'));
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      'ready',
      'operation',
      expect.stringContaining('The service'),
      'operation',
      'stopping',
      'stopped',
    ]);
  });
});

test('continues on stderr once stdout is closed, and the server goes on', async () => {
  const { PATH = '' } = process.env;
  const script = `exec "${process.execPath}" ${MAIN} > >(head -n 1 >&2)`;
  const env = { PATH, PORT: '0', ADMIN_PORT: '0', SHUTDOWN_GRACE_MS: '0', ...LIVE };
  child = startCommand(['bash', '--norc', '-c', script], { cwd: ROOT, env });
  await expect.poll(child.stderr, { timeout: 10_000 }).toContain('"ready"');
  const [, graphqlUrl = ''] = IN_JSON.exec(child.stderr()) ?? [];
  for (const name of ['A', 'B', 'C']) {
    expect(await ask(graphqlUrl, `query ${name} { __typename }`)).toMatchObject({ status: 200 });
    await sleep(150);
  }
  await expect.poll(child.stderr).toContain('"operation":"C"');
  expect(await child.end('SIGTERM')).toBe(0);
});

describe('LOG_HASH_KEY', () => {
  const hashesWith = async (env: Readonly<Record<string, string>>) => {
    const lines = (await writtenWith({ ...LIVE, LOG_LEVEL: 'debug', ...env }, IN_JSON)).trimEnd().split('\n');
    return lines.flatMap((line) => JSON.parse(line).tokens ?? []);
  };

  test('makes hashes of one token equal in every process that has it, and different in every other', async () => {
    const [one, again, other, none, none2] = [
      await hashesWith({ LOG_HASH_KEY: 'the-key-of-all-processes' }),
      await hashesWith({ LOG_HASH_KEY: 'the-key-of-all-processes' }),
      await hashesWith({ LOG_HASH_KEY: 'the-key-of-another-one' }),
      await hashesWith({}),
      await hashesWith({}),
    ];
    for (const hashes of [one, other, none, none2]) {
      expect(hashes).toEqual([expect.stringMatching(/^[\da-f]{12}$/), expect.stringMatching(/^[\da-f]{12}$/)]);
      expect(new Set(hashes).size).toBe(2);
    }
    expect(again).toEqual(one);
    expect(new Set([one, other, none, none2].map(String)).size).toBe(4);
  }, 60_000);
});
