import { expect, test } from 'vitest';
import { unsafeSwitches } from '../../src/settings/summary.ts';
import { LIVE, SANDBOX, startServing } from '../process/environments.ts';
import { MAIN, startProcess } from '../support/process.ts';

/** Switches of Node that live mode refuses, because each undoes a promise. */

const STORE = { QUOTA_STORE_URL: 'redis://127.0.0.1', FINGERPRINT_QUOTA: '{"perDay":1}', DEBUG: '*' };

test('live mode does not start with an unsafe switch, and names each', async ({ onTestFinished }) => {
  const NODE_OPTIONS = '--insecure-http-parser --inspect=0.0.0.0:0';
  const child = startProcess(MAIN, { ...LIVE, ...STORE, NODE_OPTIONS, NODE_TLS_REJECT_UNAUTHORIZED: '0' });
  onTestFinished(child.stop);
  expect([await child.ended, child.stdout()]).toEqual([1, '']);
  for (const sentence of [
    'NODE_OPTIONS: expected no --insecure-http-parser',
    'NODE_OPTIONS: expected no --inspect',
    'NODE_TLS_REJECT_UNAUTHORIZED: expected nothing, but got 0',
    'DEBUG: expected a value without ioredis, but got one with it',
  ])
    expect(child.stderr()).toContain(`\n  ${sentence}, `);
});

test('the sandbox starts with an unsafe switch', async (context) => {
  await startServing(context, { ...SANDBOX, NODE_OPTIONS: '--insecure-http-parser' });
});

test.each<[string, number]>([
  ['--insecure-http-parser --max-http-header-size=9000', 1],
  ['--inspect-brk=10.0.0.1', 1],
  ['--inspect --inspect-port=localhost:0', 0],
  ['--import=./telemetry.mjs --require @opentelemetry/auto-instrumentations-node/register', 0],
])('NODE_OPTIONS=%s has %i unsafe switches, and so has the command line', (text, count) => {
  expect(unsafeSwitches({ NODE_OPTIONS: text }, [])).toHaveLength(count);
  expect(unsafeSwitches({}, text.split(' '))).toHaveLength(count);
});

test.each([
  ['*', 1],
  ['express:*,ioredis:redis', 1],
  ['express:*', 0],
])('DEBUG=%s writes the password of the store: %i', (DEBUG, count) => {
  expect(unsafeSwitches({ DEBUG, QUOTA_STORE_URL: 'redis://a' }, [])).toHaveLength(count);
  expect(unsafeSwitches({ DEBUG }, [])).toEqual([]);
});
