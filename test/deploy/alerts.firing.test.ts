import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ALERT_FILE, ALERTS } from './alerts.ts';

/** Each rule fires when it should, and only it, on series of an hour or a day: `PROMTOOL=path npm run test:alerts`. */

const PROMTOOL = process.env['PROMTOOL'];

/** Values of a series in promtool's words, one a minute for 30 hours: from `start`, `step` more each time. */
type Series = Readonly<Record<string, string>>;
const steady = (value: number) => `${value}+0x1800`;
const growing = (aMinute: number) => `0+${aMinute}x1800`;
/** A counter that is 0 until minute 30 and 1 from then on, and one that is born with the 1. */
const ONCE = '0+0x29 1+0x30';
const BORN = '_x30 1+0x30';

const EU = 'service="captcha",region="EU"';
const DAY = 'service="captcha",window="day"';
const outcome = (type: string, cause: string, proceed: boolean) =>
  `device_trust_captcha_outcomes_total{type="${type}",cause="${cause}",proceed="${proceed}"}`;

/** Nothing is wrong: three replicas answer 10 operations a second, and some callers make mistakes. */
const HEALTHY: Series = {
  ...Object.fromEntries(
    ['a', 'b', 'c'].flatMap((instance) => [
      [`up{job="device-trust",instance="${instance}"}`, steady(1)],
      [`process_start_time_seconds{job="device-trust",instance="${instance}"}`, steady(100)],
      [`nodejs_eventloop_lag_p99_seconds{job="device-trust",instance="${instance}"}`, steady(0.012)],
    ]),
  ),
  'up{job="orders",instance="d"}': steady(0),
  'device_trust_operation_duration_seconds_bucket{outcome="ok",le="0.5"}': growing(600),
  'device_trust_operation_duration_seconds_bucket{outcome="ok",le="2.5"}': growing(600),
  'device_trust_operation_duration_seconds_bucket{outcome="ok",le="+Inf"}': growing(600),
  [`device_trust_upstream_breaker_open{${EU}}`]: steady(0),
  [`device_trust_upstream_duration_seconds_count{${EU},outcome="ok"}`]: growing(600),
  [`device_trust_upstream_duration_seconds_count{${EU},outcome="http_4xx"}`]: growing(100),
  [outcome('CaptchaPassed', '', true)]: growing(600),
  [outcome('CaptchaIndeterminate', 'CLIENT', false)]: growing(600),
  [`device_trust_quota_limit{${DAY}}`]: steady(1_000_000),
  [`device_trust_quota_remaining{${DAY}}`]: steady(500_000),
  [`device_trust_quota_refused_total{${DAY}}`]: steady(3),
  device_trust_quota_store_away: steady(0),
  'device_trust_errors_total{code="BAD_USER_INPUT"}': growing(60),
  'device_trust_requests_refused_total{code="BAD_REQUEST"}': growing(60),
};

interface Case {
  readonly when: string;
  readonly series: Series;
  /** A minute in which it is still, or again, silent, and one in which it fires. */
  readonly silent: number;
  readonly fires: number;
}

const CASES: Readonly<Record<string, readonly Case[]>> = {
  DeviceTrustGone: [
    {
      when: 'the last replica stops',
      series: Object.fromEntries(
        ['a', 'b', 'c'].map((instance) => [`up{job="device-trust",instance="${instance}"}`, '1+0x29 _x31']),
      ),
      silent: 29,
      fires: 40,
    },
  ],
  DeviceTrustReplicaDown: [
    {
      when: 'one of three stops',
      series: { 'up{job="device-trust",instance="a"}': '1+0x29 0+0x30' },
      silent: 34,
      fires: 36,
    },
  ],
  DeviceTrustRestarts: [
    {
      when: 'one starts for the third time again',
      series: { 'process_start_time_seconds{job="device-trust",instance="a"}': '100+0x29 200+0x4 300+0x4 400+0x20' },
      silent: 36,
      fires: 41,
    },
  ],
  DeviceTrustBreakerOpen: [
    {
      when: 'it stays open, and probing now and then looks closed',
      series: { [`device_trust_upstream_breaker_open{${EU}}`]: '0+0x29 1 1 0 1 1 0 1 1 0 1+0x20' },
      silent: 31,
      fires: 38,
    },
  ],
  DeviceTrustUpstreamErrors: [
    {
      when: 'an eighth of the calls time out',
      series: { [`device_trust_upstream_duration_seconds_count{${EU},outcome="UPSTREAM_TIMEOUT"}`]: growing(100) },
      silent: 4,
      fires: 10,
    },
    {
      when: 'an eighth of the answers is a 5xx',
      series: { [`device_trust_upstream_duration_seconds_count{${EU},outcome="http_5xx"}`]: growing(100) },
      silent: 4,
      fires: 10,
    },
  ],
  DeviceTrustUpstreamRejected: [ONCE, BORN].map((values) => ({
    when: `it happens once (${values})`,
    series: { 'device_trust_errors_total{code="UPSTREAM_REJECTED"}': values },
    silent: 29,
    fires: 32,
  })),
  DeviceTrustSignToken: [ONCE, BORN].map((values) => ({
    when: `it happens once (${values})`,
    series: { [outcome('CaptchaFailed', 'ILLEGAL_SIGN_TOKEN', false)]: values },
    silent: 29,
    fires: 32,
  })),
  DeviceTrustRateLimited: [
    {
      when: 'a service answers 429 once a minute',
      series: { [`device_trust_upstream_duration_seconds_count{${EU},outcome="http_429"}`]: growing(1) },
      silent: 4,
      fires: 10,
    },
  ],
  DeviceTrustQuotaExceeded: [
    {
      when: 'ten calls a minute are refused',
      series: { [`device_trust_quota_refused_total{${DAY}}`]: growing(10) },
      silent: 4,
      fires: 10,
    },
  ],
  DeviceTrustQuotaNearlyUsed: [
    {
      when: 'a twentieth of the day is left',
      series: { [`device_trust_quota_remaining{${DAY}}`]: '110000+0x29 50000+0x30' },
      silent: 29,
      fires: 31,
    },
  ],
  DeviceTrustQuotaStoreAway: [
    {
      when: 'it is away for more than 10 minutes',
      series: { device_trust_quota_store_away: '0+0x29 1+0x30' },
      silent: 39,
      fires: 41,
    },
  ],
  DeviceTrustSpendRises: [
    {
      when: 'there are twice as many calls as at the same hour of the day before',
      series: {
        [`device_trust_upstream_duration_seconds_count{${EU},outcome="ok"}`]: '0+600x1439 863400+1300x360',
      },
      silent: 1_500,
      fires: 1_570,
    },
  ],
  DeviceTrustProceedsByPolicy: [
    {
      when: 'a tenth proceeds without a verdict',
      series: { [outcome('CaptchaIndeterminate', 'TRANSPORT', true)]: growing(140) },
      silent: 4,
      fires: 10,
    },
  ],
  DeviceTrustUnverifiedAttestations: [
    {
      when: 'one is issued',
      series: { 'device_trust_attestations_total{audience="orders",assurance="unverified"}': ONCE },
      silent: 29,
      fires: 32,
    },
  ],
  DeviceTrustUnverifiedLimit: [
    {
      when: 'one is refused',
      series: { 'device_trust_attestation_refusals_total{reason="unverified_limit"}': ONCE },
      silent: 29,
      fires: 32,
    },
  ],
  DeviceTrustSlow: [
    {
      when: 'one in fifty takes longer than every bucket',
      series: {
        'device_trust_operation_duration_seconds_bucket{outcome="ok",le="+Inf"}': growing(613),
      },
      silent: 9,
      fires: 15,
    },
  ],
  DeviceTrustOverloaded: [
    {
      when: 'requests are refused',
      series: { 'device_trust_requests_refused_total{code="OVERLOADED"}': growing(10) },
      silent: 4,
      fires: 10,
    },
    {
      when: 'fields fail',
      series: { 'device_trust_errors_total{code="OVERLOADED"}': growing(10) },
      silent: 4,
      fires: 10,
    },
  ],
  DeviceTrustEventLoopLag: [
    {
      when: 'one replica lags',
      series: { 'nodejs_eventloop_lag_p99_seconds{job="device-trust",instance="a"}': '0.012+0x29 0.15+0x30' },
      silent: 39,
      fires: 41,
    },
  ],
  DeviceTrustUnauthenticated: [
    {
      when: 'ten a minute are refused',
      series: { 'device_trust_requests_refused_total{code="UNAUTHENTICATED"}': growing(10) },
      silent: 4,
      fires: 10,
    },
  ],
  DeviceTrustInternalError: ['errors', 'requests_refused'].flatMap((what) =>
    [ONCE, BORN].map((values) => ({
      when: `it happens once among ${what} (${values})`,
      series: { [`device_trust_${what}_total{code="INTERNAL_SERVER_ERROR"}`]: values },
      silent: 29,
      fires: 32,
    })),
  ),
  DeviceTrustCatalogueDrift: [ONCE, BORN].map((values) => ({
    when: `it happens once (${values})`,
    series: { 'device_trust_catalogue_drift_total{kind="level"}': values },
    silent: 29,
    fires: 32,
  })),
};

const FIRING = 'count by (alertname) (ALERTS{alertstate="firing"})';

/** Lets promtool evaluate the rules; rejects, with what it says, unless exactly these alerts fire in these minutes. */
async function expectFiring(series: Series, expected: readonly { minute: number; alerts: readonly string[] }[]) {
  const folder = await mkdtemp(join(tmpdir(), 'device-trust-alerts-'));
  try {
    const checks = expected.map(({ minute, alerts }) => ({
      expr: FIRING,
      eval_time: `${minute}m`,
      exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
    }));
    const input_series = Object.entries({ ...HEALTHY, ...series }).map(([name, values]) => ({ series: name, values }));
    const tests = [{ interval: '1m', input_series, promql_expr_test: checks }];
    const file = join(folder, 'test.yaml');
    // JSON is YAML.
    await writeFile(file, JSON.stringify({ rule_files: [ALERT_FILE], evaluation_interval: '1m', tests }));
    await promisify(execFile)(PROMTOOL ?? '', ['test', 'rules', file], { timeout: 20_000 });
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('there is a case for every rule', () => {
  expect(Object.keys(CASES).sort()).toEqual(ALERTS.map(({ alert }) => alert).sort());
});

describe.runIf(PROMTOOL)('a rule', () => {
  test('is one to Prometheus', async () => {
    await promisify(execFile)(PROMTOOL ?? '', ['check', 'rules', ALERT_FILE], { timeout: 20_000 });
  });

  test('does not fire while nothing is wrong', async () => {
    const always = [5, 15, 30, 59].map((minute) => ({ minute, alerts: [] }));
    await expectFiring({}, always);
  });

  const cases = Object.entries(CASES).flatMap(([alert, list]) => list.map((one) => ({ alert, ...one })));
  test.each(cases)('$alert fires alone when $when', async ({ alert, series, silent, fires }) => {
    await expectFiring(series, [
      { minute: silent, alerts: [] },
      { minute: fires, alerts: [alert] },
    ]);
  });

  test('would not pass if it did not fire', async () => {
    await expect(expectFiring({}, [{ minute: 30, alerts: ['DeviceTrustGone'] }])).rejects.toThrow('FAILED');
  });
});
