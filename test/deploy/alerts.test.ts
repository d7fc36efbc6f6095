import { describe, expect, test } from 'vitest';
import { ALERTS, AROUND } from './alerts.ts';
import { expectToBeAskable } from './metrics.ts';
import { isPromql, labelNamesIn, metricNamesIn, valuesOf } from './promql.ts';

/** The alerts for which somebody is woken up. `alerts.firing.test.ts` lets each rule fire. */

test('the file is one group of rules, each with a name of its own', () => {
  expect(AROUND).toEqual([{}, { name: 'device-trust' }]);
  expect(new Set(ALERTS.map(({ alert }) => alert)).size).toBe(ALERTS.length);
  expect(ALERTS.length).toBeGreaterThan(10);
});

describe.each(ALERTS)('$alert', ({ alert, expr, for: duration, labels, annotations, ...rest }) => {
  test('has the fields of a rule', () => {
    expect(rest).toEqual({});
    expect(alert).toMatch(/^DeviceTrust[A-Z][A-Za-z]+$/);
    if (duration !== undefined) expect(duration).toMatch(/^[1-9]\d*m$/);
    expect(Object.keys(labels)).toEqual(['severity', 'side']);
    expect(Object.keys(annotations)).toEqual(['summary', 'runbook', 'runbook_url']);
  });

  test('reads only series that exist', () => expectToBeAskable(expr));

  test('has a severity and a side', () => {
    expect(['critical', 'warning', 'info']).toContain(labels['severity']);
    expect(['upstream', 'operator']).toContain(labels['side']);
  });

  test('says in one sentence what is wrong, and in two whose fault it is and what to do', () => {
    const { summary = '', runbook = '' } = annotations;
    expect(summary).not.toMatch(/[.!?]( |$)/);
    expect(runbook.match(/\.(?= [A-Z]|$)/g)).toHaveLength(2);
    expect(runbook).toMatch(/^(Ours|The upstream's|The captcha service's|Nobody's fault)/);
    expect(`${summary} ${runbook}`).not.toMatch(/\n/);
  });

  test('names in its text only labels that its expression keeps', () => {
    const named = [
      ...Object.values(annotations)
        .join(' ')
        .matchAll(/\$labels\.(\w+)/g),
    ].map(([, label = '']) => label);
    // Without a `by` all labels are kept, and those that matter are Prometheus's own.
    const kept = [...labelNamesIn(expr), 'instance'];
    expect(named.filter((label) => !kept.includes(label))).toEqual([]);
  });
});

describe('PromQL', () => {
  const EXPRESSION = 'sum by (le) (rate(a_bucket{code=~"X|Y", x!="1"}[5m])) > 0.1 or b unless b offset 10m';

  test('is distinguished from text that is not PromQL', () => {
    expect(isPromql(EXPRESSION)).toBe(true);
    for (const none of ['', 'sum(', 'rate(a[5x])', 'a{b=c}', 'a + * b']) expect(isPromql(none), none).toBe(false);
  });

  test('is parsed into its series, labels and values', () => {
    expect(metricNamesIn(EXPRESSION)).toEqual(['a_bucket', 'b']);
    expect(labelNamesIn(EXPRESSION)).toEqual(['le', 'code', 'x']);
    expect(valuesOf('code', EXPRESSION)).toEqual(['X', 'Y']);
  });

  test.each([
    ['an unknown metric', 'device_trust_error_total'],
    ['a histogram without its suffix', 'device_trust_operation_duration_seconds'],
    ['a suffix without a histogram', 'device_trust_errors_total_count'],
    ['an unknown label', 'sum by (servce) (device_trust_upstream_queued)'],
    ['an unknown code', 'device_trust_errors_total{code="UPSTREAM_REFUSED"}'],
  ])('is refused with %s', (_what, expression) => {
    expect(() => expectToBeAskable(expression)).toThrow();
  });
});
