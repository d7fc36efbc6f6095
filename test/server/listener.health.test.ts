import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { Config } from '../../src/config/variables.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { readMetrics } from '../observability/exposition.ts';
import { queryForTokens, send, startSandboxed } from '../observability/support.ts';
import { DEFAULTS } from '../support/app.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { answer, answersProbes, type Behaviour, hang, reset, startHostile } from '../support/hostile.ts';

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

/** An app whose upstream treats probes, and everything else, like this until the test says otherwise. */
async function startWith(behave: Behaviour, overrides: Partial<Config> = {}) {
  const upstreamIs = { behave };
  const all: Behaviour = (exchange) => upstreamIs.behave(exchange);
  const upstream = await startHostile(all, { probe: all });
  onTestFinished(upstream.stop);
  const { url } = upstream;
  const app = await createApp(
    {
      ...DEFAULTS,
      upstreamMode: 'live',
      fingerprintApplications: SANDBOX_APPLICATIONS,
      captchaConfigurations: SANDBOX_CAPTCHAS,
      ...{ fingerprintUrlGlb: url, fingerprintUrlNa: url, fingerprintUrlEu: url },
      ...{ captchaUrlGlb: url, captchaUrlNa: url, captchaUrlEu: url },
      ...overrides,
    },
    pino({ level: 'silent' }),
  );
  onTestFinished(app.stop);
  return { app, upstreamIs, upstream };
}

const UNREADY = [
  [200, 'alive\n'],
  [503, 'checking the upstream accounts; the log has the reason if one does not work\n'],
];

describe('a process whose upstreams do not work when it starts', () => {
  test('is alive but not ready while its accounts are refused, and ready once they work', async () => {
    const { app, upstreamIs } = await startWith(answer(403, ''), { upstreamCheckGraceMs: 1_000 });
    await sleep(2_000);
    expect(await healthOf(app)).toEqual(UNREADY);
    expect(await healthOf({ url: new URL(app.metricsUrl).origin })).toEqual(UNREADY);
    upstreamIs.behave = answersProbes;
    // A refused account is asked again after 10 s.
    await expect.poll(() => healthOf(app), { timeout: 15_000 }).toEqual(HEALTHY);
    expect(await healthOf({ url: new URL(app.metricsUrl).origin })).toEqual(HEALTHY);
  });

  test('is ready as soon as an outage ends', async () => {
    const { app, upstreamIs } = await startWith(answer(503, ''), { upstreamCheckGraceMs: 60_000 });
    await sleep(700);
    expect(await healthOf(app)).toEqual(UNREADY);
    upstreamIs.behave = answersProbes;
    await expect.poll(() => healthOf(app)).toEqual(HEALTHY);
  });

  test.each<[string, Behaviour]>([
    ['fails', answer(503, '')],
    ['meets silence', hang],
  ])('is ready after the time of grace if everything %s', async (_how, behave) => {
    const { app } = await startWith(behave, { upstreamCheckGraceMs: 600 });
    expect(await healthOf(app)).toEqual(UNREADY);
    await app.ready;
    expect(await healthOf(app)).toEqual(HEALTHY);
  });

  test('answers requests, although it is not ready', async () => {
    const { app } = await startWith(answer(401, ''));
    const { text } = await send(app, { query: '{ signalCatalogue { code } }' });
    expect(JSON.parse(text).data.signalCatalogue).toHaveLength(51);
  });

  test('is ready at once without the check', async () => {
    const { app } = await startWith(answer(401, ''), { upstreamCheck: 'off' });
    expect(await healthOf(app)).toEqual(HEALTHY);
  });
});

// Other processes have the same upstreams, so a process that is not ready would help nobody.
describe('a process that was ready stays so in a confirmed outage, and answers what needs no upstream', () => {
  test.each<[string, Behaviour]>([
    ['responds with 503', answer(503, '')],
    ['resets connections', reset],
    ['never responds', hang],
    ['refuses the accounts', answer(403, '')],
  ])('if everything %s', async (_how, behave) => {
    const deadlines = { fingerprintTimeoutMs: 1_000, captchaTimeoutMs: 1_000 };
    const { app, upstreamIs } = await startWith(answersProbes, deadlines);
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
    await expect.poll(areDown).toEqual([true, true]);
    expect(await healthOf(app)).toEqual(HEALTHY);
    const { text } = await send(app, { query: '{ signalCatalogue { code } }' });
    expect(JSON.parse(text).data.signalCatalogue).toHaveLength(51);
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
  // What the upstreams are asked meanwhile has nothing to do with these.
  const counted = async () =>
    (await readMetrics(app)).samples.filter(({ name }) => /^device_trust_(?!upstream_)/.test(name));
  const before = await counted();
  for (let round = 0; round < 3; round += 1) expect(await healthOf(app)).toEqual(HEALTHY);
  expect(app.logged().trimEnd().split('\n')).toHaveLength(1);
  expect(await counted()).toEqual(before);
});
