import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { errorEnvelope } from '../faults/documented.ts';
import { CAPTCHA_MUTATION, ENTITIES_QUERY, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { answer, hang } from '../support/hostile.ts';
import { readMetrics } from './exposition.ts';
import { queryForTokens, send, startAgainst, startSandboxed } from './support.ts';

/** The metrics of operations, and of the process. */

const DURATION = 'device_trust_operation_duration_seconds';

test('every metric exists from the start, with a help text', async () => {
  const { families } = await readMetrics(await startSandboxed());
  expect(Object.fromEntries([...families].map(([name, { type }]) => [name, type]))).toMatchObject({
    device_trust_operation_duration_seconds: 'histogram',
    device_trust_operations_total: 'counter',
    device_trust_operations_failed_total: 'counter',
    device_trust_build_info: 'gauge',
    device_trust_operations_in_flight: 'gauge',
    device_trust_requests_refused_total: 'counter',
    device_trust_errors_total: 'counter',
    device_trust_upstream_duration_seconds: 'histogram',
    device_trust_upstream_in_flight: 'gauge',
    device_trust_upstream_queued: 'gauge',
    device_trust_upstream_health: 'gauge',
    device_trust_upstream_has_worked: 'gauge',
    device_trust_upstream_outages_total: 'counter',
    device_trust_upstream_probes_total: 'counter',
    device_trust_ready: 'gauge',
    device_trust_connections_evicted_total: 'counter',
    device_trust_fingerprint_lookups_total: 'counter',
    device_trust_fingerprint_calls_total: 'counter',
    device_trust_metadata_dropped_total: 'counter',
    device_trust_captcha_outcomes_total: 'counter',
    device_trust_signals_total: 'counter',
    device_trust_decisions_total: 'counter',
    device_trust_catalogue_drift_total: 'counter',
    nodejs_eventloop_lag_p99_seconds: 'gauge',
    nodejs_heap_size_used_bytes: 'gauge',
    process_resident_memory_bytes: 'gauge',
    process_cpu_seconds_total: 'counter',
  });
  for (const { help } of families.values()) expect(help).toMatch(/^\S.{9,}/);
});

test('the build is one series, with the version of package.json and of Node', async () => {
  const { samples } = await readMetrics(await startSandboxed());
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(samples.filter(({ name }) => name === 'device_trust_build_info')).toEqual([
    { name: 'device_trust_build_info', labels: { version, node: process.version.slice(1) }, value: 1 },
  ]);
});

test('a bucket ends at the objective of latency and at both default deadlines', async () => {
  const app = await startSandboxed();
  await send(app, { query: queryForTokens(['sandbox:web']) });
  const { samples } = await readMetrics(app);
  for (const name of [DURATION, 'device_trust_upstream_duration_seconds']) {
    const bounds = samples.filter((sample) => sample.name === `${name}_bucket`).map(({ labels }) => labels['le']);
    expect(bounds).toEqual(expect.arrayContaining(['2', '3', '5']));
  }
});

test('a limit that one request exceeds is the fault of its caller, whoever the code usually belongs to', async () => {
  const app = await startSandboxed({ maxUpstreamCalls: 1 });
  await send(app, { query: queryForTokens(['sandbox:web', 'sandbox:ios']) });
  const { value } = await readMetrics(app);
  expect(value('device_trust_errors_total', { code: 'OVERLOADED' })).toBe(1);
  expect(value('device_trust_operations_failed_total', { side: 'caller' })).toBe(1);
  expect(value('device_trust_operations_failed_total', { side: 'operator' })).toBe(0);
});

test.each([
  ['a firewall refuses what a client sent', 403, '<html>', 'upstream'],
  ['a firewall refuses it with another status', 406, '<html>', 'upstream'],
  ['a proxy refuses it', 400, '', 'upstream'],
  ['the service refuses our credentials, as documented', 401, errorEnvelope(401, 'Invalid bearer token'), 'operator'],
  ['the service answers with an undocumented error in its own form', 409, errorEnvelope(409, 'Conflict'), 'operator'],
])('when %s (%i), somebody else has to act than for our mistakes', async (_when, status, body, side) => {
  const { app } = await startAgainst(answer(status, body));
  await send(app, { query: queryForTokens(['a']) });
  const { value } = await readMetrics(app);
  const sides = ['caller', 'upstream', 'operator'];
  expect(sides.filter((one) => value('device_trust_operations_failed_total', { side: one }) === 1)).toEqual([side]);
});

test('the metrics of the process describe this process', async () => {
  const app = await startSandboxed();
  const burn = process.cpuUsage();
  const { value } = await readMetrics(app);
  const { heapUsed, rss } = process.memoryUsage();
  for (const [name, bytes] of [
    ['nodejs_heap_size_used_bytes', heapUsed],
    ['process_resident_memory_bytes', rss],
  ] as const) {
    expect(value(name)).toBeGreaterThan(bytes / 2);
    expect(value(name)).toBeLessThan(bytes * 2);
  }
  expect(value('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
  while (process.cpuUsage(burn).user < 50_000);
  const later = (await readMetrics(app)).value('process_cpu_seconds_total') ?? 0;
  expect(later - (value('process_cpu_seconds_total') ?? 0)).toBeGreaterThan(0.03);
});

test('errors, refusals, drift and unverified passes count from zero, so that the first one is an increase', async () => {
  // Prometheus sees no increase in a series that appears with the value 1, so no alert on an increase would fire.
  const { value } = await readMetrics(await startSandboxed());
  for (const code of ['UPSTREAM_TIMEOUT', 'INTERNAL_SERVER_ERROR', 'OVERLOADED']) {
    expect(value('device_trust_errors_total', { code })).toBe(0);
  }
  for (const code of ['BAD_REQUEST', 'UNAUTHENTICATED', 'OVERLOADED']) {
    expect(value('device_trust_requests_refused_total', { code })).toBe(0);
  }
  for (const kind of ['unknown_signal', 'level', 'confidence']) {
    expect(value('device_trust_catalogue_drift_total', { kind })).toBe(0);
  }
  for (const cause of ['CLIENT', 'CONFIGURATION', 'SERVICE', 'TRANSPORT']) {
    const unverified = { type: 'CaptchaIndeterminate', cause, proceed: 'true' };
    expect(value('device_trust_captcha_outcomes_total', unverified)).toBe(0);
  }
  expect(value('device_trust_connections_evicted_total')).toBe(0);
});

const representations = (tokens: readonly string[]) =>
  tokens.map((token) => ({ __typename: 'DeviceFingerprint', token }));

describe('an operation', () => {
  test.each<[string, string, string, string | undefined, object, Readonly<Record<string, number>>]>([
    ['with a response', 'ok', 'signalCatalogue', undefined, { query: '{ signalCatalogue { code } }' }, {}],
    [
      'with a rejection, which is data',
      'ok',
      'deviceFingerprint',
      undefined,
      { query: queryForTokens(['made-up']) },
      {},
    ],
    [
      'with some fields that failed',
      'partial',
      'deviceFingerprint',
      'operator',
      { query: queryForTokens(['sandbox:web', 'sandbox:error:500', 'sandbox:error:401', 'sandbox:error:500#2']) },
      { UPSTREAM_UNAVAILABLE: 2, UPSTREAM_REJECTED: 1 },
    ],
    [
      'with one reference of two resolved',
      'partial',
      '_entities',
      'caller',
      { query: ENTITIES_QUERY, variables: { representations: representations(['sandbox:web', 'made-up']) } },
      { DEVICE_TOKEN_REJECTED: 1 },
    ],
    [
      'with no field that has data',
      'error',
      'deviceFingerprint',
      'upstream',
      { query: FINGERPRINT_QUERY, variables: { token: 'sandbox:error:500' } },
      { UPSTREAM_UNAVAILABLE: 1 },
    ],
    [
      'with no reference resolved',
      'error',
      '_entities',
      'upstream',
      { query: ENTITIES_QUERY, variables: { representations: representations(['sandbox:error:500', 'made-up']) } },
      { UPSTREAM_UNAVAILABLE: 1, DEVICE_TOKEN_REJECTED: 1 },
    ],
    ['that cannot be parsed', 'error', 'none', 'caller', { query: '{' }, { GRAPHQL_PARSE_FAILED: 1 }],
    ['that is not valid', 'error', 'none', 'caller', { query: '{ a b }' }, { GRAPHQL_VALIDATION_FAILED: 2 }],
    [
      'with variables that are not valid',
      'error',
      'deviceFingerprint',
      'caller',
      { query: FINGERPRINT_QUERY },
      { BAD_USER_INPUT: 1 },
    ],
  ])('%s counts as %s, with its errors', async (_what, outcome, field, side, body, errors) => {
    const app = await startSandboxed();
    await send(app, body);
    const { samples, value } = await readMetrics(app);
    const counts = samples.filter(({ name }) => name === `${DURATION}_count`);
    expect(counts).toEqual([{ name: `${DURATION}_count`, labels: { field, outcome }, value: 1 }]);
    const failed = samples.filter((it) => it.name === 'device_trust_operations_failed_total' && it.value > 0);
    expect(failed.map(({ labels, value: count }) => [labels, count])).toEqual(side ? [[{ side }, 1]] : []);
    expect(value(`${DURATION}_bucket`, { outcome, le: '+Inf' })).toBe(1);
    expect(value(`${DURATION}_bucket`, { outcome, le: '10' })).toBe(1);
    const counted = samples.filter(({ name, value: count }) => name === 'device_trust_errors_total' && count > 0);
    expect(Object.fromEntries(counted.map(({ labels, value: count }) => [labels['code'], count]))).toEqual(errors);
    expect(value('device_trust_operations_in_flight')).toBe(0);
  });

  test('whose Accept header has no available content type counts as error', async () => {
    const app = await startSandboxed();
    await send(app, { query: '{ __typename }' }, { accept: 'image/png' });
    const { value } = await readMetrics(app);
    expect(value(`${DURATION}_count`, { outcome: 'error' })).toBe(1);
    expect(value('device_trust_operations_failed_total', { side: 'caller' })).toBe(1);
    expect(value('device_trust_errors_total', { code: 'BAD_REQUEST' })).toBe(1);
  });

  test('is measured in seconds', async () => {
    const app = await startSandboxed();
    await send(app, { query: queryForTokens(['sandbox:delay:300:web']) });
    const { value } = await readMetrics(app);
    expect(value(`${DURATION}_sum`, { outcome: 'ok' })).toBeGreaterThan(0.29);
    expect(value(`${DURATION}_sum`, { outcome: 'ok' })).toBeLessThan(5);
    expect(value(`${DURATION}_bucket`, { outcome: 'ok', le: '0.25' })).toBe(0);
    expect(value(`${DURATION}_bucket`, { outcome: 'ok', le: '5' })).toBe(1);
  });

  test('is in flight until its call ends', async () => {
    const { app } = await startAgainst(hang, { fingerprintTimeoutMs: 2_000, captchaTimeoutMs: 2_000 });
    const inFlight = async () => (await readMetrics(app)).value('device_trust_operations_in_flight');
    const input = { lotNumber: 'l', captchaOutput: 'o', passToken: 'p', genTime: '1' };
    const asked = [
      send(app, { query: queryForTokens(['a', 'b']) }),
      send(app, { query: queryForTokens(['a']) }),
      send(app, { query: CAPTCHA_MUTATION, variables: { input } }),
    ];
    await expect.poll(inFlight, { interval: 20 }).toBe(3);
    await Promise.all(asked);
    expect(await inFlight()).toBe(0);
  });
});
