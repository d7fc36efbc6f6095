import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { errorEnvelope } from '../faults/documented.ts';
import { startInSandboxMode } from '../support/app.ts';
import { ENTITIES_QUERY, FINGERPRINT_QUERY, queryForTokens, referencesTo } from '../support/graphql.ts';
import { answer, type Behaviour, hang } from '../support/hostile.ts';
import { json, request } from '../support/requests.ts';
import { gainOf, readMetrics } from './exposition.ts';
import { runAgainst, send, startSandboxed } from './support.ts';

/** The metrics of the process, of operations, and of requests that are refused before they become an operation. */

const DURATION = 'device_trust_operation_duration_seconds';

const app = await startInSandboxMode();
let reply: Behaviour = hang;
const live = await runAgainst((exchange) => reply(exchange));
afterAll(() => Promise.all([app.stop(), live.stop()]));

test('errors, refusals, drift and unverified passes count from zero, so that the first one is an increase', async () => {
  // Prometheus sees no increase in a series that appears with the value 1, so no alert on an increase would fire.
  const { value } = await readMetrics(await startSandboxed());
  const from = (name: string, label: string, values: readonly string[], others = {}) =>
    values.map((each) => value(name, { [label]: each, ...others }));
  expect([
    from('device_trust_errors_total', 'code', ['UPSTREAM_TIMEOUT', 'INTERNAL_SERVER_ERROR', 'OVERLOADED']),
    from('device_trust_requests_refused_total', 'code', ['BAD_REQUEST', 'UNAUTHENTICATED', 'OVERLOADED']),
    from('device_trust_catalogue_drift_total', 'kind', ['unknown_signal', 'level', 'confidence', 'client_type']),
    from('device_trust_captcha_outcomes_total', 'cause', ['CLIENT', 'SERVICE', 'TRANSPORT'], { proceed: 'true' }),
    [value('device_trust_captcha_outcomes_total', { cause: 'CONFIGURATION', proceed: 'true' })],
    [value('device_trust_connections_evicted_total')],
  ]).toEqual([[0, 0, 0], [0, 0, 0], [0, 0, 0, 0], [0, 0, 0], [0], [0]]);
});

test('the build is one series, with the version of package.json and of Node', async () => {
  const { samples } = await readMetrics(app);
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(samples.filter(({ name }) => name === 'device_trust_build_info')).toEqual([
    { name: 'device_trust_build_info', labels: { version, node: process.version.slice(1) }, value: 1 },
  ]);
});

test('the clock of the machine is shown', async () => {
  const time = (await readMetrics(app)).value('device_trust_time_seconds');
  expect(Math.abs(Date.now() / 1_000 - Number(time))).toBeLessThan(30);
});

const failing = queryForTokens(['sandbox:web', 'sandbox:error:500', 'sandbox:error:401', 'sandbox:error:500#2']);
const references = (...tokens: readonly string[]) => ({ query: ENTITIES_QUERY, variables: referencesTo(tokens) });
const REJECTED = { DEVICE_TOKEN_REJECTED: 1 };

// A rejected token is data of a query, and an error of a reference.
test.each<[string, object, Readonly<Record<string, number>>?]>([
  ['ok signalCatalogue', { query: '{ signalCatalogue { code } }' }],
  ['ok deviceFingerprint', { query: queryForTokens(['made-up']) }],
  ['partial deviceFingerprint operator', { query: failing }, { UPSTREAM_UNAVAILABLE: 2, UPSTREAM_REJECTED: 1 }],
  ['partial _entities caller', references('sandbox:web', 'made-up'), REJECTED],
  ['error deviceFingerprint upstream', { query: queryForTokens(['sandbox:error:500']) }, { UPSTREAM_UNAVAILABLE: 1 }],
  ['error _entities upstream', references('sandbox:error:500', 'made-up'), { UPSTREAM_UNAVAILABLE: 1, ...REJECTED }],
  ['error none caller', { query: '{' }, { GRAPHQL_PARSE_FAILED: 1 }],
  ['error none caller', { query: '{ a b }' }, { GRAPHQL_VALIDATION_FAILED: 2 }],
  ['error deviceFingerprint caller', { query: FINGERPRINT_QUERY }, { BAD_USER_INPUT: 1 }],
])('an operation counts by outcome, field and who has to act: %s for %j', async (expected, body, errors = {}) => {
  const [outcome, field, side] = expected.split(' ');
  const gain = await gainOf(app, () => send(app, body));
  expect(gain.of(`${DURATION}_count`)).toEqual([[{ field, outcome }, 1]]);
  expect(gain.of('device_trust_operations_failed_total')).toEqual(side ? [[{ side }, 1]] : []);
  const counted = gain.of('device_trust_errors_total').map(([{ code }, count]) => [code, count]);
  expect(Object.fromEntries(counted)).toEqual(errors);
  expect((await readMetrics(app)).value('device_trust_operations_in_flight')).toBe(0);
});

test('an operation that exceeds a limit of one request is the fault of its caller, whoever the code usually belongs to', async () => {
  const strict = await startSandboxed({ maxUpstreamCalls: 1 });
  const gain = await gainOf(strict, () => send(strict, { query: queryForTokens(['sandbox:web', 'sandbox:ios']) }));
  expect(gain.of('device_trust_errors_total')).toEqual([[{ code: 'OVERLOADED' }, 1]]);
  expect(gain.of('device_trust_operations_failed_total')).toEqual([[{ side: 'caller' }, 1]]);
});

test.each([
  ['a firewall refuses what a client sent', 403, '<html>', 'upstream'],
  ['a proxy answers for the service', 200, '<html>', 'upstream'],
  ['the service refuses our credentials, as documented', 401, errorEnvelope(401, 'Invalid bearer token'), 'operator'],
  ['the service answers with an undocumented error in its own form', 409, errorEnvelope(409, 'Conflict'), 'upstream'],
])('an operation for which %s (%i) names who has to act', async (_when, status, body, side) => {
  reply = answer(status, body);
  const linesBefore = live.app.logged().length;
  let text = '';
  const gain = await gainOf(live.app, async () => {
    ({ text } = await send(live.app, { query: queryForTokens(['a']) }));
  });
  expect(gain.of('device_trust_operations_failed_total')).toEqual([[{ side }, 1]]);
  for (const said of [text, live.app.logged().slice(linesBefore)])
    expect(said).toContain(`operator of ${side === 'upstream' ? 'that service' : 'this subgraph'} has to act`);
});

test('an operation is measured in seconds, in buckets of which one ends at the objective of latency and one at each default deadline', async () => {
  const gain = await gainOf(app, () => send(app, { query: queryForTokens(['sandbox:delay:300:web']) }));
  expect(gain.sum(`${DURATION}_sum`, { outcome: 'ok' })).toBeGreaterThan(0.29);
  expect(gain.sum(`${DURATION}_sum`, { outcome: 'ok' })).toBeLessThan(5);
  expect(gain.sum(`${DURATION}_bucket`, { outcome: 'ok', le: '0.25' })).toBe(0);
  expect(gain.sum(`${DURATION}_bucket`, { outcome: 'ok', le: '5' })).toBe(1);
  const { samples } = await readMetrics(app);
  for (const name of [DURATION, 'device_trust_upstream_duration_seconds']) {
    const bounds = samples.filter((sample) => sample.name === `${name}_bucket`).map(({ labels }) => labels['le']);
    expect([...new Set(bounds)].join(' ')).toBe('0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2 3 5 10 +Inf');
  }
});

test('the lag of the event loop is the total since the start, however often it is scraped', async () => {
  const lag = async () => (await readMetrics(live.app)).value('device_trust_event_loop_lag_seconds_total') ?? 0;
  reply = (exchange) => {
    const until = performance.now() + 1_000;
    while (performance.now() < until);
    answer(503, '')(exchange);
  };
  await send(live.app, { query: FINGERPRINT_QUERY, variables: { token: 't' } });
  const first = await lag();
  expect(first).toBeGreaterThan(0.9);
  await lag();
  expect(await lag()).toBeLessThan(1.9 * first);
});

test.each([
  ['a body that is not JSON', '/graphql', '{'],
  ['another path', '/nothing', '{}'],
])('a request that is refused counts as BAD_REQUEST for %s, and as no operation', async (_why, path, body) => {
  const gain = await gainOf(app, async () => {
    expect((await request(app.url + path, json(body))).status).toBeGreaterThanOrEqual(400);
  });
  expect(gain.of('device_trust_requests_refused_total')).toEqual([[{ code: 'BAD_REQUEST' }, 1]]);
  expect(gain.of(`${DURATION}_count`)).toEqual([]);
  expect((await readMetrics(app)).value('device_trust_operations_in_flight')).toBe(0);
});

test('a request that is refused counts as none if a connection has no request', async () => {
  const gain = await gainOf(app, async () => {
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    socket.end();
    await text(socket);
  });
  expect(gain.of('device_trust_requests_refused_total')).toEqual([]);
});
