import { setTimeout } from 'node:timers/promises';
import { describe, expect, type TestContext, test, vi } from 'vitest';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { MAIN, startProcess } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { LIVE } from './environments.ts';

/** What a router and an orchestrator see of a process that gets a signal to end. */

const INPUT = { lotNumber: 'lot-1', captchaOutput: 'o', passToken: 'p', genTime: '1' };
const NO = { status: 'success', result: 'fail', reason: 'pass_token expire', captcha_args: { lot_number: 'lot-1' } };
const CATALOGUE = '{ signalCatalogue { code } }';

/** A process in live mode with one verification under way, whose upstream answers when the test releases it. */
async function startBusy({ onTestFinished }: TestContext, graceMs: number, env: Readonly<Record<string, string>> = {}) {
  const released = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const upstream = await startUpstream(async (_request, response) => {
    arrived.resolve();
    await released.promise;
    sendJson(response, 200, NO);
  });
  onTestFinished(upstream.stop);
  const child = startProcess(MAIN, {
    PORT: '0',
    SHUTDOWN_GRACE_MS: String(graceMs),
    ...LIVE,
    FINGERPRINT_URL_NA: upstream.url,
    CAPTCHA_URL_EU: upstream.url,
    CAPTCHA_TIMEOUT_MS: '60000',
    ...env,
  });
  onTestFinished(child.stop);
  const [, graphqlUrl = ''] = await child.waitFor(/"url":"([^"]+)"/);
  const verified = ask(graphqlUrl, CAPTCHA_MUTATION, { input: INPUT });
  // In tests that do not wait for it, it fails with the process, and that is no failure of the test.
  verified.catch(() => {});
  await arrived.promise;
  return { child, graphqlUrl, readyUrl: graphqlUrl.replace('/graphql', '/readyz'), verified, answer: released.resolve };
}

describe.concurrent('a signal', { timeout: 30_000 }, () => {
  test.for(['SIGTERM', 'SIGINT'] as const)(
    '%s fails readiness at once, while requests are still answered; those under way finish; it exits with 0',
    async (signal, context) => {
      const { child, graphqlUrl, readyUrl, verified, answer } = await startBusy(context, 3_000);
      expect((await fetch(readyUrl)).status).toBe(200);
      const start = performance.now();
      const ended = child.end(signal);

      await vi.waitUntil(async () => (await fetch(readyUrl)).status === 503, { timeout: 5_000, interval: 10 });
      // Long before the grace period ends, which leaves time for what is asked next.
      expect(performance.now() - start).toBeLessThan(1_500);
      for (let asked = 0; asked < 3; asked += 1) {
        const { status, data, headers } = await ask(graphqlUrl, CATALOGUE);
        expect([status, data.signalCatalogue.length]).toEqual([200, 51]);
        // So that a router opens its next connection to another replica.
        expect(headers.get('connection')).toBe('close');
      }

      // New connections are refused, and the verification is still under way.
      await vi.waitUntil(
        () =>
          fetch(readyUrl).then(
            () => false,
            () => true,
          ),
        { timeout: 5_000 },
      );
      expect(performance.now() - start).toBeGreaterThan(2_900);
      answer();
      expect((await verified).data).toMatchObject({ validateCaptcha: { category: 'PASS_TOKEN_EXPIRED' } });
      expect(await ended).toBe(0);
      expect(performance.now() - start).toBeLessThan(10_000);
      expect(child.stderr()).toBe('');
    },
  );

  test('ends it with 0 within 10 s, even if what is under way never ends', async (context) => {
    const { child, verified } = await startBusy(context, 1_000);
    const start = performance.now();
    expect(await child.end('SIGTERM')).toBe(0);
    expect(performance.now() - start).toBeLessThan(10_000);
    await expect(verified).rejects.toThrow();
  });

  test('ends it with 0 even while it starts', async ({ onTestFinished }) => {
    const NODE_OPTIONS = '--import=./test/process/end-at-listening.ts';
    const child = startProcess(MAIN, { PORT: '0', NODE_OPTIONS, ...LIVE });
    onTestFinished(child.stop);
    // By a handler of its own again: to process 1 the signal would be lost.
    expect(await child.ended).toBe(0);
    expect(child.stderr()).toBe('');
  });

  test.for(['SIGTERM', 'SIGINT'] as const)('%s a second time ends it at once', async (signal, context) => {
    const { child, readyUrl } = await startBusy(context, 30_000);
    const start = performance.now();
    child.signal(signal);
    await vi.waitUntil(async () => (await fetch(readyUrl)).status === 503, { timeout: 5_000, interval: 10 });
    // By a handler of its own: process 1 of a container would not even get a signal that nothing handles.
    expect(await child.end(signal)).toBe(signal === 'SIGTERM' ? 143 : 130);
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  test('that npm passes on after the process group got it counts once, so that the drain is not skipped', async (context) => {
    const { child, answer, verified } = await startBusy(context, 1_000, { npm_lifecycle_event: 'start' });
    child.signal('SIGTERM');
    const ended = child.end('SIGTERM');
    answer();
    expect((await verified).data).toMatchObject({ validateCaptcha: { category: 'PASS_TOKEN_EXPIRED' } });
    expect(await ended).toBe(0);
  });

  test('sent again on purpose ends it at once under npm as well', async (context) => {
    const { child } = await startBusy(context, 30_000, { npm_lifecycle_event: 'start' });
    child.signal('SIGTERM');
    await setTimeout(1_000);
    const start = performance.now();
    expect(await child.end('SIGTERM')).toBe(143);
    expect(performance.now() - start).toBeLessThan(5_000);
  });
});
