import { describe, expect, test, vi } from 'vitest';
import { readMetrics } from '../observability/exposition.ts';
import { send, startSandboxed } from '../observability/support.ts';
import { answer, answersProbes } from '../support/hostile.ts';
import { HEALTHY, healthOf, startChecking, UNREADY } from './support.ts';

/** The endpoints of an orchestrator: `/healthz` for liveness and `/readyz` for readiness. */

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
