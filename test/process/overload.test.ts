import { expect, test, vi } from 'vitest';
import { MAIN, startProcess } from '../support/process.ts';
import { post } from '../support/requests.ts';

/** A process that has more work than it can do answers 503 at once, so that nobody waits. */

const QUERY = '{"query":"{ signalCatalogue { code } }"}';
const BUSY = new URL('../support/busy.ts', import.meta.url).href;

test('while the event loop is late, GraphQL gets a 503 at once and health checks go on; then all is well again', {
  timeout: 30_000,
}, async ({ onTestFinished }) => {
  const child = startProcess(MAIN, {
    UPSTREAM_MODE: 'sandbox',
    SHUTDOWN_GRACE_MS: '0',
    PORT: '0',
    SANDBOX_PORT: '0',
    NODE_OPTIONS: `--import ${BUSY}`,
  });
  onTestFinished(child.stop);
  const [, graphqlUrl = '', url = ''] = await child.waitFor(/Device trust is at (\S+), Apollo Sandbox at (\S+)\n/);
  expect((await post(graphqlUrl, QUERY)).status).toBe(200);

  child.signal('SIGUSR2');
  await vi.waitUntil(async () => (await post(graphqlUrl, QUERY)).status === 503, { timeout: 5_000 });
  const start = performance.now();
  const [{ status, headers, errors }, alive, ready] = await Promise.all([
    post(graphqlUrl, QUERY),
    fetch(`${url}/healthz`),
    fetch(`${url}/readyz`),
  ]);
  // As late as the loop, and not more: the work takes seconds.
  expect(performance.now() - start).toBeLessThan(2_500);
  expect([status, headers.get('retry-after'), headers.get('cache-control')]).toEqual([503, '1', 'no-store']);
  expect(errors).toEqual([{ message: expect.any(String), extensions: { code: 'OVERLOADED', retryable: true } }]);
  expect([alive.status, ready.status]).toEqual([200, 200]);

  await vi.waitUntil(async () => (await post(graphqlUrl, QUERY)).status === 200, { timeout: 15_000 });
  expect(child.stderr()).toBe('');
});
