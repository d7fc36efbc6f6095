import { describe, expect, test } from 'vitest';
import { readMetrics } from '../observability/exposition.ts';
import { queryForTokens, send, startAgainst, startSandboxed } from '../observability/support.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { answer, type Behaviour, hang, reset } from '../support/hostile.ts';

/** The endpoints of an orchestrator: `/healthz` for liveness and `/readyz` for readiness. */

const PATHS = ['/healthz', '/readyz'] as const;
const input = { lotNumber: 'l', captchaOutput: 'o', passToken: 'p', genTime: '1' };

async function healthOf({ url }: { readonly url: string }): Promise<(number | string)[][]> {
  return Promise.all(
    PATHS.map(async (path) => {
      const response = await fetch(url + path);
      return [response.status, await response.text()];
    }),
  );
}

const HEALTHY = [
  [200, 'alive\n'],
  [200, 'ready\n'],
];

// Other processes have the same upstreams, so a process that is not ready would help nobody.
describe('a process whose upstreams fail stays ready, and answers what needs no upstream', () => {
  test.each<[string, Behaviour]>([
    ['respond with 503', answer(503, '')],
    ['reset connections', reset],
    ['never respond', hang],
  ])('when they %s and both circuit breakers are open', async (_how, behave) => {
    const deadline = behave === hang ? 200 : 10_000;
    const { app } = await startAgainst(behave, { fingerprintTimeoutMs: deadline, captchaTimeoutMs: deadline });
    const tokens = Array.from({ length: 25 }, (_, index) => `token-${index}`);
    const captcha = { query: CAPTCHA_MUTATION, variables: { input } };
    // Repeated, because on a busy machine a late call does not count against the upstream.
    const openAfterAsking = async () => {
      await Promise.all([send(app, { query: queryForTokens(tokens) }), ...tokens.map(() => send(app, captcha))]);
      const { value } = await readMetrics(app);
      return ['fingerprint', 'captcha'].map((service) => value('device_trust_upstream_breaker_open', { service }));
    };
    await expect.poll(openAfterAsking).toEqual([1, 1]);
    expect(await healthOf(app)).toEqual(HEALTHY);
    const { text } = await send(app, { query: '{ signalCatalogue { code } }' });
    expect(JSON.parse(text).data.signalCatalogue).toHaveLength(51);
  });

  test('when nothing listens at their address and no call was made', async () => {
    const { app, upstream } = await startAgainst(hang);
    await upstream.stop();
    expect(await healthOf(app)).toEqual(HEALTHY);
  });
});

test('a process that stops is not ready but alive until it has stopped', async () => {
  const app = await startSandboxed({ shutdownGraceMs: 400 });
  expect(await healthOf(app)).toEqual(HEALTHY);
  const stopped = app.stop();
  expect(await healthOf(app)).toEqual([
    [200, 'alive\n'],
    [503, 'draining\n'],
  ]);
  // Requests and scrapes are still answered.
  expect((await send(app, { query: '{ __typename }' })).status).toBe(200);
  expect((await readMetrics(app)).value('device_trust_operation_duration_seconds_count', { outcome: 'ok' })).toBe(1);
  await stopped;
  for (const path of PATHS) await expect(fetch(app.url + path)).rejects.toThrow();
});

test('health checks need no secret, and leave nothing in the log or the metrics', async () => {
  const app = await startSandboxed({ routerSecrets: ['the-secret-of-the-router'] });
  for (let round = 0; round < 3; round += 1) expect(await healthOf(app)).toEqual(HEALTHY);
  expect(app.logged().trimEnd().split('\n')).toHaveLength(1);
  const { samples } = await readMetrics(app);
  const counted = samples.filter(({ name, value }) => name.startsWith('device_trust_') && value > 0);
  expect(counted).toEqual([]);
});
