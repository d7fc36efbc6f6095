import { createServer, type Server } from 'node:net';
import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import { query } from './support.ts';

const host = '127.0.0.1';

/** Three free ports in a row, of which `taken` (0 to 2) is then occupied. */
async function occupy(taken: number): Promise<{ port: number; release: () => Promise<void> }> {
  for (let port = 21_100; port < 21_400; port += 3) {
    const servers = await Promise.all([0, 1, 2].map((index) => listen(port + index)));
    const keep = servers.every((server) => server) ? servers[taken] : undefined;
    await Promise.all(servers.filter((server) => server !== keep).map(close));
    if (keep) return { port, release: () => close(keep) };
  }
  throw new Error('no three free ports in a row');
}

function listen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, host, () => resolve(server));
  });
}

function close(server: Server | undefined): Promise<void> {
  return new Promise((resolve) => (server ? server.close(() => resolve()) : resolve()));
}

test('port 0 takes three ports that are free', async () => {
  const { urls, stop } = await startSandbox({ port: 0 });
  await stop();
  expect(Object.keys(urls)).toEqual(['GLB', 'NA', 'EU']);
  for (const url of Object.values(urls)) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(new Set(Object.values(urls)).size).toBe(3);
});

test.each([0, 1, 2])('a start fails if port N+%i is taken, and a later start can use N, N+1 and N+2', async (taken) => {
  const { port, release } = await occupy(taken);
  await expect(startSandbox({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await release();
  const sandbox = await startSandbox({ port });
  try {
    const [GLB, NA, EU] = [0, 1, 2].map((index) => `http://${host}:${port + index}`);
    expect(sandbox.urls).toEqual({ GLB, NA, EU });
  } finally {
    await sandbox.stop();
  }
});

test('stop closes open connections and frees the ports, and a second stop does nothing', async () => {
  const sandbox = await startSandbox({ port: 0 });
  const url = sandbox.urls.GLB;
  const idle = await query(url, { device_token: 'sandbox:web' });
  await idle.json();
  const underWay = query(url, { device_token: 'sandbox:delay:60000:web' });
  const ended = expect(underWay).rejects.toThrow('fetch failed');
  await new Promise((resolve) => setTimeout(resolve, 100));

  await sandbox.stop();
  await ended;
  await sandbox.stop();
  await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});
