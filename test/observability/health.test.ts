import { describe, expect, test } from 'vitest';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { answer, type Behaviour, hang, reset } from '../support/hostile.ts';
import { readMetrics } from './exposition.ts';
import { aboutTokens, send, startAgainst, startSandboxed } from './support.ts';

/** What an orchestrator asks: does the process live, and does it take requests? */

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

const WELL = [
  [200, 'alive\n'],
  [200, 'ready\n'],
];

describe('a process whose upstreams are dead stays ready: others are no better off, and what is left of the graph works', () => {
  test.each<[string, Behaviour]>([
    ['fail', answer(503, '')],
    ['reset', reset],
    ['hang', hang],
  ])('they %s, and both breakers are open', async (_how, behave) => {
    const deadline = behave === hang ? 200 : 10_000;
    const { app } = await startAgainst(behave, { fingerprintTimeoutMs: deadline, captchaTimeoutMs: deadline });
    const tokens = Array.from({ length: 25 }, (_, index) => `token-${index}`);
    const captcha = { query: CAPTCHA_MUTATION, variables: { input } };
    // More than once where the machine is so busy that late calls are no fault of the upstream.
    const openAfterAsking = async () => {
      await Promise.all([send(app, { query: aboutTokens(tokens) }), ...tokens.map(() => send(app, captcha))]);
      const { value } = await readMetrics(app);
      return ['fingerprint', 'captcha'].map((service) => value('device_trust_upstream_breaker_open', { service }));
    };
    await expect.poll(openAfterAsking).toEqual([1, 1]);
    expect(await healthOf(app)).toEqual(WELL);
    const { text } = await send(app, { query: '{ signalCatalogue { code } }' });
    expect(JSON.parse(text).data.signalCatalogue).toHaveLength(51);
  });

  test('they were never asked, and nobody is there', async () => {
    const { app, upstream } = await startAgainst(hang);
    await upstream.stop();
    expect(await healthOf(app)).toEqual(WELL);
  });
});

test('a process that stops is not ready any more, and alive until it is gone', async () => {
  const app = await startSandboxed({ shutdownGraceMs: 400 });
  expect(await healthOf(app)).toEqual(WELL);
  const stopped = app.stop();
  expect(await healthOf(app)).toEqual([
    [200, 'alive\n'],
    [503, 'draining\n'],
  ]);
  // Still answered, as is the one who scrapes.
  expect((await send(app, { query: '{ __typename }' })).status).toBe(200);
  expect((await readMetrics(app)).value('device_trust_operation_duration_seconds_count', { outcome: 'ok' })).toBe(1);
  await stopped;
  for (const path of PATHS) await expect(fetch(app.url + path)).rejects.toThrow();
});

test('whoever asks needs no secret, and leaves nothing in the log or the metrics', async () => {
  const app = await startSandboxed({ routerSecrets: ['the-secret-of-the-router'] });
  for (let round = 0; round < 3; round += 1) expect(await healthOf(app)).toEqual(WELL);
  expect(app.logged().trimEnd().split('\n')).toHaveLength(1);
  const { samples } = await readMetrics(app);
  const counted = samples.filter(({ name, value }) => name.startsWith('device_trust_') && value > 0);
  expect(counted).toEqual([]);
});
