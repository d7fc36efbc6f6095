import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { CASES } from './alert-cases.ts';
import { HEALTHY, OUTAGES, type Series } from './alert-series.ts';
import { ALERT_FILE, ALERTS } from './alerts.ts';

/** Each rule fires when it should, and only it, on series of an hour or a day: `PROMTOOL=path npm run test:alerts`. */

const PROMTOOL = process.env['PROMTOOL'];

const FIRING = 'count by (alertname) (ALERTS{alertstate="firing"})';

/** Lets promtool evaluate the rules; rejects, with what it says, unless exactly these alerts fire in these minutes. */
async function expectFiring(
  series: Series,
  expected: readonly { minute: number; alerts: readonly string[] }[],
  everyMinutes = 1,
) {
  const folder = await mkdtemp(join(tmpdir(), 'device-trust-alerts-'));
  try {
    const checks = expected.map(({ minute, alerts }) => ({
      expr: FIRING,
      eval_time: `${minute}m`,
      exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
    }));
    const input_series = Object.entries({ ...HEALTHY, ...series }).map(([name, values]) => ({ series: name, values }));
    const tests = [{ interval: `${everyMinutes}m`, input_series, promql_expr_test: checks }];
    const file = join(folder, 'test.yaml');
    // JSON is YAML.
    await writeFile(file, JSON.stringify({ rule_files: [ALERT_FILE], evaluation_interval: `${everyMinutes}m`, tests }));
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
    const always = Array.from({ length: 121 }, (_, minute) => ({ minute, alerts: [] }));
    await expectFiring({}, always);
  });

  test('does not fire for a single outage that is over before a scrape', async () => {
    await expectFiring({ [OUTAGES]: '3+0x29 4+0x90' }, [{ minute: 31, alerts: [] }]);
  });

  const cases = Object.entries(CASES).flatMap(([alert, list]) => list.map((one) => ({ alert, ...one })));
  test.each(cases)('$alert fires alone when $when', async ({ alert, series, silent, fires, beside = [], ...rest }) => {
    const { earlier = [], everyMinutes } = rest;
    const expected = [
      { minute: silent, alerts: earlier },
      { minute: fires, alerts: [alert, ...beside] },
    ];
    await expectFiring(series, expected, everyMinutes);
  });

  test('would not pass if it did not fire', async () => {
    await expect(expectFiring({}, [{ minute: 30, alerts: ['DeviceTrustGone'] }])).rejects.toThrow('FAILED');
  });
});
