import { pino } from 'pino';
import { describe, expect, type TestContext, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { startSwitchable } from '../faults/support.ts';
import { readMetrics } from '../observability/exposition.ts';
import { send, startSandboxed } from '../observability/support.ts';
import { liveConfig, PATIENT } from '../support/app.ts';
import { answer, answersProbes, type Behaviour } from '../support/hostile.ts';
import { HEALTHY, healthOf } from './support.ts';

/** The endpoints of an orchestrator: `/healthz` for liveness and `/readyz` for readiness. */

const UNREADY = [
  [200, 'alive\n'],
  [503, 'checking the upstream accounts; the log has the reason if one does not work\n'],
];

/** An app that may not be ready yet. Its upstream treats probes, and everything else, like this until the test says otherwise. */
async function startChecking({ onTestFinished }: Pick<TestContext, 'onTestFinished'>, behave: Behaviour) {
  const upstream = await startSwitchable(behave, { probe: behave });
  onTestFinished(upstream.stop);
  const app = await createApp(liveConfig(upstream.url), pino({ level: 'silent' }), { maxDelayMs: PATIENT });
  onTestFinished(app.stop);
  return { app, upstream };
}

describe('a process whose upstreams do not work when it starts', () => {
  test('a process whose upstreams do not work when it starts is alive but not ready while its accounts are down, and ready once they work', async (context) => {
    const { app, upstream } = await startChecking(context, answer(503, ''));
    const urls = [app.url, app.metricsUrl];
    const isKnown = async () =>
      (await readMetrics(app)).samples.some(
        ({ name, labels, value }) =>
          name === 'device_trust_upstream_health' && labels['state'] !== 'unknown' && value === 1,
      );
    await expect.poll(isKnown).toBe(true);
    for (const url of urls) expect(await healthOf(url)).toEqual(UNREADY);
    upstream.behave(answersProbes);
    for (const url of urls) await expect.poll(() => healthOf(url)).toEqual(HEALTHY);
  });

  test('a process whose upstreams do not work when it starts answers requests, although it is not ready', async (context) => {
    const { app } = await startChecking(context, answer(401, ''));
    const { text } = await send(app, { query: '{ signalCatalogue { code } }' });
    expect(JSON.parse(text).data.signalCatalogue).toHaveLength(51);
  });
});

test('health checks need no secret, and leave nothing in the log or the metrics', async () => {
  const app = await startSandboxed({ routerSecrets: ['the-secret-of-the-router'] });
  // What the upstreams are asked meanwhile has nothing to do with these.
  const counted = async () =>
    (await readMetrics(app)).samples.filter(({ name }) => /^device_trust_(?!upstream_|time_|event_loop_)/.test(name));
  const before = await counted();
  for (let round = 0; round < 3; round += 1) expect(await healthOf(app.url)).toEqual(HEALTHY);
  expect(app.logged().trimEnd().split('\n')).toHaveLength(1);
  expect(await counted()).toEqual(before);
});
