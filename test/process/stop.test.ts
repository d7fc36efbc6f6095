import { setTimeout } from 'node:timers/promises';
import { expect, type TestContext, test } from 'vitest';
import { FAIL } from '../faults/documented.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION } from '../support/graphql.ts';
import { MAIN, startProcess } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { untilEnd } from '../support/until-end.ts';
import { startHeldUpstream } from '../support/upstream.ts';
import { LIVE, objectsOn, preload, startServing } from './environments.ts';

/** What a router and an orchestrator see of a process that gets a signal to end. */

/** A process in live mode with one verification under way, whose upstream answers when the test releases it. */
async function startBusy(context: TestContext, graceMs: number, env: Readonly<Record<string, string>> = {}) {
  const upstream = await untilEnd(startHeldUpstream(FAIL));
  const { child, graphqlUrl, urlOf } = await startServing(context, {
    ...LIVE,
    SHUTDOWN_GRACE_MS: String(graceMs),
    FINGERPRINT_URL_NA: upstream.url,
    CAPTCHA_URL_EU: upstream.url,
    CAPTCHA_TIMEOUT_MS: '60000',
    ...env,
  });
  const verified = ask(graphqlUrl, CAPTCHA_MUTATION, { input: CAPTCHA_INPUT });
  // In tests that do not wait for it, it fails with the process, and that is no failure of the test.
  verified.catch(() => {});
  await upstream.arrived;
  /** The status of readiness; undefined once connections are refused. */
  const readiness = () =>
    fetch(urlOf('/readyz')).then(
      ({ status }) => status,
      () => undefined,
    );
  const becomes = (status: number | undefined) => expect.poll(readiness, { interval: 10 }).toBe(status);
  return { child, readiness, becomes, verified, answer: upstream.release };
}

// One after the other, since starting a process takes a core, and what is measured here begins after that.
test.for(['SIGTERM', 'SIGHUP'] as const)(
  '%s lets requests under way finish, accepts no new one, and exits with 0 at once after the last',
  async (signal, context) => {
    const { child, readiness, becomes, verified, answer } = await startBusy(context, 0);
    expect(await readiness()).toBe(200);
    const ended = child.end(signal);
    // New connections are refused, and the verification is still under way.
    await becomes(undefined);
    const released = performance.now();
    answer();
    expect((await verified).data).toMatchObject({ validateCaptcha: { category: 'PASS_TOKEN_EXPIRED' } });
    expect(await ended).toBe(0);
    // Requests under way get 7 s.
    expect(performance.now() - released).toBeLessThan(5_000);
    expect(child.stderr()).toBe('');
  },
);

test('a signal ends the process with 0 within 10 s, even if what is under way never ends', async (context) => {
  const { child, verified } = await startBusy(context, 1_000);
  const start = performance.now();
  expect(await child.end('SIGINT')).toBe(0);
  expect(performance.now() - start).toBeLessThan(10_000);
  await expect(verified).rejects.toThrow();
  // Its call may have been billed.
  const lines = objectsOn(child.stdout()).filter(({ msg }) => msg === 'operation');
  expect(lines).toMatchObject([{ errors: ['CANCELLED'], upstreamCalls: 1 }]);
});

test('a signal ends the process with 0 even while it starts', async () => {
  const child = await untilEnd(startProcess(MAIN, { ...LIVE, ...preload('SIGTERM while it starts') }));
  // By a handler of its own again: to process 1 the signal would be lost.
  expect(await child.ended).toBe(0);
  expect(child.stderr()).toBe('');
});

// By a handler of its own: process 1 of a container would not even get a signal that nothing handles.
test('a signal ends the process at once if it comes a second time', async (context) => {
  const { child, becomes } = await startBusy(context, 30_000);
  child.signal('SIGINT');
  await becomes(503);
  expect(await child.end('SIGINT')).toBe(130);
});

test('another signal beside the first ends nothing under way, as systemd and terminals send SIGHUP', async (context) => {
  const { child, verified, answer } = await startBusy(context, 0);
  child.signal('SIGTERM');
  await child.waitFor(/"msg":"stopping"/);
  const ended = child.end('SIGHUP');
  // Once its own connections are refused.
  await setTimeout(500);
  answer();
  expect((await verified).data).toMatchObject({ validateCaptcha: { category: 'PASS_TOKEN_EXPIRED' } });
  expect(await ended).toBe(0);
});

test('a signal that npm passes on after the process group got it counts once; sent again on purpose it ends the process', async (context) => {
  const { child, readiness } = await startBusy(context, 30_000, { npm_lifecycle_event: 'start' });
  child.signal('SIGTERM');
  await child.waitFor(/"msg":"stopping"/);
  child.signal('SIGTERM');
  // Longer than npm takes. It still drains then.
  await setTimeout(600);
  expect(await readiness()).toBe(503);
  expect(await child.end('SIGTERM')).toBe(143);
});
