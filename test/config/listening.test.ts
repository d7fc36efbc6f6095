import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { listenProblem } from '../../src/config/rules.ts';
import { listen } from '../support/loopback.ts';

/** What is reported of an address that cannot be listened on: which variable, and why. */

async function errorOf(port: number, host = '127.0.0.1'): Promise<unknown> {
  return once(createServer().listen(port, host), 'listening').catch((error: unknown) => error);
}

test('a port that is taken is reported by its variable', async () => {
  const server = createServer();
  const taken = await listen(server);
  onTestFinished(() => void server.close());
  const error = await errorOf(taken);
  const others = { host: '127.0.0.1', port: 1, adminPort: 2 };
  const isTaken = `expected a free port, but ${taken} is taken.`;
  expect(listenProblem(error, { ...others, port: taken })).toBe(`PORT: ${isTaken}`);
  expect(listenProblem(error, { ...others, adminPort: taken })).toBe(`ADMIN_PORT: ${isTaken}`);
  const ofSandbox = `SANDBOX_PORT: expected three free ports from this one on, but ${taken} is taken.`;
  expect(listenProblem(error, others)).toBe(ofSandbox);
  expect(listenProblem(error)).toBe(ofSandbox);
});

// No host has a name under `.invalid` (RFC 6761, section 6.4).
test.each(['192.0.2.1', 'no-host.invalid'])('HOST=%s, which is not of this machine, is reported', async (host) => {
  expect(listenProblem(await errorOf(4001, host), { host, port: 4001, adminPort: 2 })).toBe(
    `HOST: expected an address of this machine, but got "${host}".`,
  );
});

test('a port that needs a privilege, what the system says for other reasons, and errors that are about no address', () => {
  const address = { host: '127.0.0.1', port: 80, adminPort: 2 };
  const error = (code: string, syscall = 'listen') => Object.assign(new Error(code), { code, syscall, port: 80 });
  expect(listenProblem(error('EACCES'), address)).toBe('PORT: expected a free port, but 80 needs a privilege.');
  expect(listenProblem(error('EMFILE'), address)).toBe('PORT: expected a free port, but 80 fails with EMFILE.');
  for (const other of [error('EADDRNOTAVAIL', 'connect'), new Error('another'), undefined])
    expect(listenProblem(other, address)).toBeUndefined();
});
