import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import { startSwitchable } from '../faults/support.ts';
import { readMetrics } from '../observability/exposition.ts';
import { send, startSandboxed } from '../observability/support.ts';
import { liveConfig, PATIENT } from '../support/app.ts';
import { answer, answersProbes } from '../support/hostile.ts';
import { untilEnd } from '../support/until-end.ts';
import { HEALTHY, healthOf } from './support.ts';

/** The endpoints of an orchestrator: `/healthz` for liveness and `/readyz` for readiness. */

const UNREADY = [
  [200, 'alive\n'],
  [503, 'checking the upstream accounts; the log has the reason if one does not work\n'],
];

test('a process whose upstreams do not work when it starts is alive but not ready, answers requests, and is ready once they work', async () => {
  const down = answer(503, '');
  const upstream = await untilEnd(startSwitchable(down, { probe: down }));
  const options = { maxDelayMs: PATIENT };
  const app = await untilEnd(createApp(liveConfig(upstream.url), pino({ level: 'silent' }), options));
  const urls = [app.url, app.metricsUrl];
  const isKnown = async () =>
    (await readMetrics(app)).samples.some(
      ({ name, labels, value }) =>
        name === 'device_trust_upstream_health' && labels['state'] !== 'unknown' && value === 1,
    );
  await expect.poll(isKnown).toBe(true);
  for (const url of urls) expect(await healthOf(url)).toEqual(UNREADY);
  const { text } = await send(app, { query: '{ signalCatalogue { code } }' });
  expect(JSON.parse(text).data.signalCatalogue).toContainEqual({ code: 'EMULATOR' });
  upstream.behave(answersProbes);
  for (const url of urls) await expect.poll(() => healthOf(url)).toEqual(HEALTHY);
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
