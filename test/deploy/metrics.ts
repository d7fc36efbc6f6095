import { expect } from 'vitest';
import { ATTESTATION_REFUSALS } from '../../src/captcha/attestation-refusals.ts';
import { FAILURE_CATEGORIES } from '../../src/captcha/contract.ts';
import { ERROR_CATALOGUE } from '../../src/errors.ts';
import { JUDGEMENT_OUTCOMES } from '../../src/fingerprint/judgement-outcomes.ts';
import { HEALTH_STATES } from '../../src/upstream/finding.ts';
import { isPromql, labelNamesIn, metricNamesIn, valuesOf } from './promql.ts';

/** A metric of the subgraph. */
interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly labels: readonly string[];
}

const upstream = ['service', 'region'];
const perAccount = [...upstream, 'account'];
const perWindow = ['service', 'window'];

/** What `/metrics` has, as far as the dashboard and the alerts need it. */
export const METRICS: Readonly<Record<string, Metric>> = {
  device_trust_build_info: { type: 'gauge', labels: ['version', 'node'] },
  device_trust_operation_duration_seconds: { type: 'histogram', labels: ['field', 'outcome'] },
  device_trust_operations_total: { type: 'counter', labels: ['caller', 'outcome'] },
  device_trust_operations_failed_total: { type: 'counter', labels: ['side'] },
  device_trust_operations_in_flight: { type: 'gauge', labels: [] },
  device_trust_requests_refused_total: { type: 'counter', labels: ['code'] },
  device_trust_errors_total: { type: 'counter', labels: ['code'] },
  device_trust_upstream_duration_seconds: { type: 'histogram', labels: [...upstream, 'outcome'] },
  device_trust_upstream_in_flight: { type: 'gauge', labels: upstream },
  device_trust_upstream_in_flight_limit: { type: 'gauge', labels: upstream },
  device_trust_upstream_queued: { type: 'gauge', labels: upstream },
  device_trust_upstream_health: { type: 'gauge', labels: [...perAccount, 'state'] },
  device_trust_upstream_has_worked: { type: 'gauge', labels: perAccount },
  device_trust_upstream_outages_total: { type: 'counter', labels: perAccount },
  device_trust_upstream_probes_total: { type: 'counter', labels: [...upstream, 'result'] },
  device_trust_ready: { type: 'gauge', labels: [] },
  device_trust_connections_evicted_total: { type: 'counter', labels: [] },
  device_trust_quota_limit: { type: 'gauge', labels: perWindow },
  device_trust_quota_remaining: { type: 'gauge', labels: perWindow },
  device_trust_quota_refused_total: { type: 'counter', labels: perWindow },
  device_trust_quota_store_away: { type: 'gauge', labels: [] },
  device_trust_fingerprint_lookups_total: { type: 'counter', labels: [] },
  device_trust_fingerprint_calls_total: { type: 'counter', labels: [] },
  device_trust_captcha_outcomes_total: { type: 'counter', labels: ['type', 'cause', 'proceed'] },
  device_trust_metadata_dropped_total: { type: 'counter', labels: ['key'] },
  device_trust_attestations_total: { type: 'counter', labels: ['audience', 'assurance'] },
  device_trust_attestation_refusals_total: { type: 'counter', labels: ['reason'] },
  device_trust_signals_total: { type: 'counter', labels: ['code', 'level'] },
  device_trust_decisions_total: { type: 'counter', labels: ['action', 'rule', 'shadow'] },
  device_trust_judgements_total: { type: 'counter', labels: ['outcome'] },
  device_trust_catalogue_drift_total: { type: 'counter', labels: ['kind'] },
  nodejs_eventloop_lag_p99_seconds: { type: 'gauge', labels: [] },
  nodejs_heap_size_used_bytes: { type: 'gauge', labels: [] },
  process_resident_memory_bytes: { type: 'gauge', labels: [] },
  process_cpu_seconds_total: { type: 'counter', labels: [] },
  process_start_time_seconds: { type: 'gauge', labels: [] },
};

/** What Prometheus adds to every series, and the series that it makes itself. */
const OF_PROMETHEUS = ['job', 'instance'];
const UP: Metric = { type: 'gauge', labels: [] };

/** The metric that a series belongs to; undefined if there is none. */
function metricOf(series: string): Metric | undefined {
  const histogram = METRICS[series.replace(/_(bucket|sum|count)$/, '')];
  if (histogram?.type === 'histogram')
    return series in METRICS ? undefined : { ...histogram, labels: [...histogram.labels, 'le'] };
  return series === 'up' ? UP : METRICS[series];
}

/** The labels of the series of a selector. */
export function labelsOf(selector: string): readonly string[] {
  return metricOf(selector.replace(/\{.*/s, ''))?.labels ?? [];
}

/** What an expression may compare a label with. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  code: Object.keys(ERROR_CATALOGUE),
  outcome: [
    'ok',
    'partial',
    'error',
    'http_429',
    'http_4xx',
    'http_5xx',
    'UPSTREAM_.+',
    ...JUDGEMENT_OUTCOMES,
    ...Object.keys(ERROR_CATALOGUE),
  ],
  type: ['CaptchaPassed', 'CaptchaFailed', 'CaptchaIndeterminate'],
  cause: [...FAILURE_CATEGORIES.values()],
  proceed: ['true', 'false'],
  side: ['operator', 'upstream', 'caller'],
  action: ['ALLOW', 'CHALLENGE', 'DENY'],
  // Prometheus 3 writes a whole number as `2.0`, and Prometheus 2 as it was served.
  le: ['2', '2.0'],
  assurance: ['verified', 'unverified'],
  reason: ATTESTATION_REFUSALS,
  shadow: ['true', 'false'],
  window: ['second', 'day'],
  state: HEALTH_STATES,
  result: ['well', 'refused', 'no_such_host', 'failed', 'inconclusive'],
  job: ['device-trust'],
};

/** Fails unless an expression is PromQL about existing metrics, with labels and values that they have. */
export function expectToBeAskable(expression: string): void {
  expect(isPromql(expression), expression).toBe(true);
  const series = metricNamesIn(expression);
  expect(series.filter((name) => !metricOf(name))).toEqual([]);
  const labels = [...OF_PROMETHEUS, ...series.flatMap((name) => metricOf(name)?.labels ?? [])];
  expect(labelNamesIn(expression).filter((name) => !labels.includes(name))).toEqual([]);
  for (const [label, values] of Object.entries(VALUES)) {
    expect(valuesOf(label, expression).filter((value) => !values.includes(value))).toEqual([]);
  }
}
