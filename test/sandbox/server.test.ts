import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import { query } from '../conformance/fingerprint-http.ts';
import { sandboxTarget } from '../conformance/sandbox.ts';
import { freePort } from '../support/ports.ts';

test('the sandbox on port N takes N, N+1 and N+2', async () => {
  const startAtFree = async (): ReturnType<typeof startSandbox> =>
    startSandbox({ port: await freePort() }).catch((error) => {
      // One of the next two was taken.
      if (error.code !== 'EADDRINUSE') throw error;
      return startAtFree();
    });
  const { urls, stop } = await startAtFree();
  await stop();
  const [first, ...others] = Object.values(urls).map((url) => Number(new URL(url).port));
  expect(others).toEqual([1, 2].map((more) => Number(first) + more));
});

test('a stop of the sandbox closes open connections and frees the ports, and a second stop does nothing', async () => {
  const sandbox = await startSandbox({ port: 0 });
  const { application } = sandboxTarget(sandbox.urls);
  // Leaves an idle connection.
  await query(application, { device_token: 'sandbox:web' });
  const underWay = query(application, { device_token: 'sandbox:delay:60000:web' });
  const ended = expect(underWay).rejects.toThrow('fetch failed');
  await new Promise((resolve) => setTimeout(resolve, 100));

  await sandbox.stop();
  await ended;
  await sandbox.stop();
  await expect(fetch(application.url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
});
