import { describe, expect, test, vi } from 'vitest';
import { readMetrics } from '../observability/exposition.ts';
import { queryForTokens, send, startSandboxed } from '../observability/support.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { answer, answersProbes, type Behaviour, hang, reset } from '../support/hostile.ts';
import { HEALTHY, healthOf, startChecking, UNREADY } from './support.ts';

/** The endpoints of an orchestrator: `/healthz` for liveness and `/readyz` for readiness. */

const input = { lotNumber: 'l', captchaOutput: 'o', passToken: 'p', genTime: '1' };

describe('a process whose upstreams do not work when it starts', () => {
  // A refused account is asked again after 10 s, and one in an outage each second.
  test.concurrent.for<[string, number]>([
    ['refused', 403],
    ['down', 503],
  ])('is alive but not ready while its accounts are %s, and ready once they work', async ([, status], context) => {
    const grace = { upstreamCheckGraceMs: status === 403 ? 3_000 : 60_000 };
    const { app, upstreamIs } = await startChecking(context, answer(status, ''), grace);
    const urls = [app.url, app.metricsUrl];
    const isKnown = async () =>
      (await readMetrics(app)).samples.some(
        ({ name, labels, value }) =>
          name === 'device_trust_upstream_health' && labels['state'] !== 'unknown' && value === 1,
      );
    await vi.waitUntil(isKnown, { timeout: 10_000 });
    // This one goes by, because it is for outages.
    if (status === 403) await new Promise((resolve) => setTimeout(resolve, 3_200));
    for (const url of urls) expect(await healthOf(url)).toEqual(UNREADY);
    upstreamIs.behave = answersProbes;
    await vi.waitUntil(async () => (await healthOf(app.url))[1]?.[0] === 200, { timeout: 25_000 });
    for (const url of urls) expect(await healthOf(url)).toEqual(HEALTHY);
  });

  test('answers requests, although it is not ready', async (context) => {
    const { app } = await startChecking(context, answer(401, ''));
    const { text } = await send(app, { query: '{ signalCatalogue { code } }' });
    expect(JSON.parse(text).data.signalCatalogue).toHaveLength(51);
  });
});

// Other processes have the same upstreams, so a process that is not ready would help nobody.
describe.concurrent('a process that was ready stays so in a confirmed outage, and answers what needs no upstream', () => {
  test.for<[string, Behaviour]>([
    ['responds with 503', answer(503, '')],
    ['resets connections', reset],
    ['never responds', hang],
    ['refuses the accounts', answer(403, '')],
  ])('if everything %s', async ([_how, behave], context) => {
    const deadlines = { fingerprintTimeoutMs: 500, captchaTimeoutMs: 500 };
    const { app, upstreamIs } = await startChecking(context, answersProbes, deadlines);
    await app.ready;
    upstreamIs.behave = behave;
    const captcha = { query: CAPTCHA_MUTATION, variables: { input } };
    await Promise.all([send(app, { query: queryForTokens(['token']) }), send(app, captcha)]);
    const areDown = async () => {
      const { samples } = await readMetrics(app);
      const states = samples.filter(({ name, value }) => name === 'device_trust_upstream_health' && value === 1);
      const isDown = (service: string) =>
        states.some(
          ({ labels }) => labels['service'] === service && ['outage', 'refused'].includes(labels['state'] ?? ''),
        );
      return ['fingerprint', 'captcha'].map(isDown);
    };
    await vi.waitUntil(async () => (await areDown()).every(Boolean), { timeout: 15_000 });
    expect(await healthOf(app.url)).toEqual(HEALTHY);
    const { text } = await send(app, { query: '{ signalCatalogue { code } }' });
    expect(JSON.parse(text).data.signalCatalogue).toHaveLength(51);
  });
});

test('health checks need no secret, and leave nothing in the log or the metrics', async () => {
  const app = await startSandboxed({ routerSecrets: ['the-secret-of-the-router'] });
  // What the upstreams are asked meanwhile has nothing to do with these.
  const counted = async () =>
    (await readMetrics(app)).samples.filter(({ name }) => /^device_trust_(?!upstream_)/.test(name));
  const before = await counted();
  for (let round = 0; round < 3; round += 1) expect(await healthOf(app.url)).toEqual(HEALTHY);
  expect(app.logged().trimEnd().split('\n')).toHaveLength(1);
  expect(await counted()).toEqual(before);
});
