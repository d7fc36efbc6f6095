import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { addressesOf, listenProblem, listenProblems, sandboxAddresses } from '../../src/config/listening.ts';
import { DEFAULTS } from '../support/app.ts';
import { listen } from '../support/loopback.ts';

/** What is reported of an address that cannot be listened on: which variable, and why. */

async function takePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  onTestFinished(() => void server.close());
  return port;
}

test('every port that is taken is reported, each by its variable', async () => {
  const [port, adminPort] = [await takePort(), await takePort()];
  expect(await listenProblems(addressesOf({ ...DEFAULTS, upstreamMode: 'live', port, adminPort }))).toEqual([
    `PORT: expected a free port, but ${port} is taken.`,
    `ADMIN_PORT: expected a free port, but ${adminPort} is taken.`,
  ]);
});

test('a port of the sandbox is named with its region', async () => {
  const port = await takePort();
  expect(await listenProblems(sandboxAddresses(port - 1))).toContain(
    `SANDBOX_PORT: expected a free port for region NA, but ${port} is taken.`,
  );
  expect(sandboxAddresses(4100).map((address) => address.port)).toEqual([4100, 4101, 4102]);
  expect(sandboxAddresses(0).map((address) => address.port)).toEqual([0, 0, 0]);
});

test('the sandbox counts only where it is embedded', () => {
  const variables = (upstreamMode: 'live' | 'sandbox') =>
    addressesOf({ ...DEFAULTS, upstreamMode }).map(({ variable }) => variable);
  expect(variables('live')).toEqual(['PORT', 'ADMIN_PORT']);
  expect(variables('sandbox')).toEqual(['PORT', 'ADMIN_PORT', 'SANDBOX_PORT', 'SANDBOX_PORT', 'SANDBOX_PORT']);
});

// No host has a name under `.invalid` (RFC 6761, section 6.4).
test.each(['192.0.2.1', 'no-host.invalid'])('HOST=%s, which is not of this machine, is reported once', async (host) => {
  expect(await listenProblems(addressesOf({ ...DEFAULTS, upstreamMode: 'live', host }))).toEqual([
    `HOST: expected an address of this machine, but got "${host}".`,
  ]);
});

test('nothing is left listening, and an address that is free by now has no sentence', async () => {
  const server = createServer();
  const port = await listen(server);
  await once(server.close(), 'close');
  const addresses = addressesOf({ ...DEFAULTS, upstreamMode: 'live', port });
  expect(await listenProblems(addresses)).toEqual([]);
  expect(await listenProblems(addresses)).toEqual([]);
});

test('a port that needs a privilege, and what the system says for other reasons', () => {
  const address = { variable: 'PORT', host: '127.0.0.1', port: 80 };
  const error = (code: string) => Object.assign(new Error(code), { code, syscall: 'listen' });
  expect(listenProblem(address, error('EACCES'))).toBe('PORT: expected a free port, but 80 needs a privilege.');
  expect(listenProblem(address, error('EMFILE'))).toBe('PORT: expected a free port, but 80 fails with EMFILE.');
});
