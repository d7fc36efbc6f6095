import { expect, test } from 'vitest';
import { summaryOf } from '../../src/settings/summary.ts';
import { problemsIn } from '../config/support.ts';
import { readMetrics } from '../observability/exposition.ts';
import { envOf, parse, start, startService } from './support.ts';

/** One line in the list of slices is enough for everything that an upstream needs. */

const OURS = { service: 'score', region: '', account: 'shop' };

test('an added upstream answers, is ready, and has health, metrics and lines of its own, without the other services', async () => {
  const service = await startService();
  const app = await start(envOf(service.url));
  await app.ready;
  expect((await fetch(`${app.url}/readyz`)).status).toBe(200);
  expect((await app.scoreOf('ada')).data).toEqual({ score: 0.25 });
  await app.scoreOf('mallory');
  expect(service.calls().map(({ url, body }) => [url, body])).toEqual([
    ['/score', '{"person":"ada"}'],
    ['/score', '{"person":"mallory"}'],
  ]);
  const metrics = await readMetrics(app);
  expect(metrics.value('device_trust_upstream_health', { ...OURS, state: 'well' })).toBe(1);
  expect(metrics.value('device_trust_upstream_duration_seconds_count', { service: 'score', outcome: 'ok' })).toBe(2);
  expect(metrics.value('device_trust_scores_total')).toBe(2);
  expect(metrics.samples.filter(({ labels }) => /fingerprint|captcha/.test(labels['service'] ?? ''))).toEqual([]);
  expect(app.logged()).toMatch(/"level":"warn".*"service":"score".*a score is very high/);
  expect(app.logged().match(/"msg":"operation"/g)).toHaveLength(2);
  expect(summaryOf(app.config, app.slices)).toMatch(/upstreams: score; score: on; quotas: off$/);
});

test('an added upstream is limited by its quota, and the start says so', async () => {
  const service = await startService();
  const app = await start(envOf(service.url, { SCORE_QUOTA: '{"perDay":1}' }));
  expect([await app.codesOf(), await app.codesOf()]).toEqual([undefined, ['QUOTA_EXCEEDED']]);
  expect((await readMetrics(app)).value('device_trust_quota_remaining', { service: 'score', window: 'day' })).toBe(0);
  expect(summaryOf(app.config, app.slices)).toContain('quotas: score, each replica alone');
});

const URL = 'https://score.test';
test.each<[string, Readonly<Record<string, string>>, string[]]>([
  [
    'takes a store for its quota',
    envOf(URL, { SCORE_QUOTA: '{"perDay":1}', QUOTA_STORE_URL: 'redis://127.0.0.1' }),
    [],
  ],
  [
    'refuses a store without a quota',
    envOf(URL, { QUOTA_STORE_URL: 'redis://127.0.0.1' }),
    ['QUOTA_STORE_URL: expected FINGERPRINT_QUOTA or CAPTCHA_QUOTA or SCORE_QUOTA as well, but got neither.'],
  ],
  [
    'refuses half of it',
    { ALLOW_DIRECT_ACCESS: 'true', SCORE_URL: URL },
    ['SCORE_ACCOUNTS: expected a JSON list of {"id", "secret"}, but got nothing, although SCORE_URL is set.'],
  ],
  [
    'refuses its broken rule',
    envOf(''),
    [
      'SCORE_URL: expected an https address without user, query or fragment; plain http only to this machine, but got nothing.',
    ],
  ],
])('the start with an added upstream %s', (_what, env, problems) =>
  expect(problemsIn(() => parse(env))).toEqual(problems),
);
