import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Config } from '../../src/settings/variables.ts';
import { ANDROID, LOT_NUMBER, PASS } from '../faults/documented.ts';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION, queryForTokens } from '../support/graphql.ts';
import { untilEnd } from '../support/until-end.ts';
import { type Answer, sendJson, startUpstream } from '../support/upstream.ts';
import { attributesOf, startReceiver } from './otlp-receiver.ts';
import { operationsOf, send } from './support.ts';

/**
 * Traces from the router through an operation to each upstream call, as a collector receives them. Names, attributes and
 * resource of the spans follow OpenTelemetry's semantic conventions for HTTP and GraphQL
 * (https://opentelemetry.io/docs/specs/semconv/).
 */

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const ROUTER = 'b7ad6b7169203331';
const traceparent = (flags: string, trace = TRACE) => ({ traceparent: `00-${trace}-${ROUTER}-${flags}` });
const SAMPLED = traceparent('01');
const captcha = { query: CAPTCHA_MUTATION, variables: { input: { ...CAPTCHA_INPUT, lotNumber: LOT_NUMBER } } };
const PING = { query: '{ __typename }' };
const [SERVER, CLIENT] = [2, 3];
const [UNSET, ERROR] = [0, 2];

/** An app that exports to a receiver. Its upstream responds with the status that the token names, or as documented. */
async function start(overrides: Partial<Config> = {}) {
  const receiver = await startReceiver();
  const answer: Answer = ({ url, body }, response) => {
    if (url.startsWith('/validate')) return sendJson(response, 200, PASS);
    const { device_token: token } = JSON.parse(body);
    if (token === 'reset') response.socket?.resetAndDestroy();
    else if (Number(token)) sendJson(response, Number(token), { code: Number(token), message: 'refused', data: {} });
    else sendJson(response, 200, ANDROID);
  };
  const upstream = await untilEnd(startUpstream(answer));
  const options = { otlpEndpoint: receiver.endpoint, otelTracesSamplerArg: 1 };
  const app = await untilEnd(startInLiveMode(upstream.url, { ...options, ...overrides }));
  return { app, receiver, upstream };
}

type Started = Awaited<ReturnType<typeof start>>;

/** Stops the app, which exports the remaining spans first, and returns all spans: of operations, and of upstream calls. */
async function exported({ app, receiver }: Started) {
  await app.stop();
  const spans = receiver.spans();
  return {
    servers: spans.filter(({ kind }) => kind === SERVER),
    clients: spans.filter(({ kind }) => kind === CLIENT),
    resources: receiver.resources(),
  };
}

/** What is exported of these operations. */
async function exportedOf(bodies: readonly object[], overrides: Partial<Config> = {}, headers = {}) {
  const started = await start(overrides);
  for (const body of bodies) await send(started.app, body, headers);
  return { ...started, ...(await exported(started)) };
}

const traceIdOf = (app: TestApp) => operationsOf(app).at(-1)?.['traceId'];

test('an operation with a traceparent is a child span of the router, and each call is a child span of it, of which the upstream learns nothing', async () => {
  const query = `query Both {
    a: deviceFingerprint(token: "one") { __typename }
    b: deviceFingerprint(token: "two", publicKey: "pk_sandbox_eu") { __typename }
  }`;
  const { app, upstream, servers, clients } = await exportedOf([{ query }], {}, SAMPLED);
  expect(servers).toMatchObject([
    { traceId: TRACE, parentSpanId: ROUTER, name: 'query deviceFingerprint', status: { code: UNSET } },
  ]);
  const [operation] = servers;
  expect(clients.map(({ traceId, parentSpanId, name }) => [traceId, parentSpanId, name])).toEqual([
    [TRACE, operation?.spanId, 'POST /api/v2/fp_query/{public_key}'],
    [TRACE, operation?.spanId, 'POST /api/v2/fp_query/{public_key}'],
  ]);
  expect(clients.map(attributesOf)).toMatchObject([{ 'upstream.region': 'GLB' }, { 'upstream.region': 'EU' }]);
  for (const { headers } of upstream.received) expect(headers).not.toHaveProperty('traceparent');
  expect(traceIdOf(app)).toBe(TRACE);
  // OpenTelemetry takes each start from the wall clock, in whole ms, so that two spans can disagree by one.
  const millisecond = 1_000_000n;
  for (const { startTimeUnixNano, endTimeUnixNano } of clients) {
    expect(BigInt(startTimeUnixNano)).toBeGreaterThan(BigInt(operation?.startTimeUnixNano ?? 0) - millisecond);
    expect(BigInt(endTimeUnixNano)).toBeLessThan(BigInt(operation?.endTimeUnixNano ?? 0) + millisecond);
  }
});

test('a call to an address without a port has the one of its scheme', async () => {
  // Nobody listens there, and a check would wait for it.
  const config = { fingerprintUrlGLB: 'https://127.0.0.1', upstreamCheck: 'off' } as const;
  const { clients } = await exportedOf([{ query: queryForTokens(['one']) }], config, SAMPLED);
  expect(clients.map(attributesOf)).toMatchObject([
    { 'server.address': '127.0.0.1', 'server.port': 443, 'url.scheme': 'https' },
  ]);
});

test('an operation without a valid traceparent starts a trace of its own', async () => {
  const started = await start();
  const wrong: readonly Record<string, string>[] = [
    {},
    { traceparent: '' },
    // Version 00 has four fields.
    { traceparent: `00-${TRACE}-${ROUTER}-01-canary` },
    { traceparent: 'ada.canary@mail.example' },
    { b3: `${TRACE}-${ROUTER}-1`, 'uber-trace-id': `${TRACE}:${ROUTER}:0:1` },
  ];
  for (const headers of wrong) await send(started.app, { query: queryForTokens(['one']) }, headers);
  const { servers, clients } = await exported(started);
  const traces = servers.map(({ traceId }) => traceId);
  for (const trace of traces) expect(trace).toMatch(/^(?!0{32})[\da-f]{32}$/);
  expect(new Set([...traces, TRACE]).size).toBe(wrong.length + 1);
  expect(servers.map(({ parentSpanId = '' }) => parentSpanId)).toEqual(wrong.map(() => ''));
  expect(clients.map(({ traceId, parentSpanId }) => [traceId, parentSpanId])).toEqual(
    servers.map(({ traceId, spanId }) => [traceId, spanId]),
  );
  expect(operationsOf(started.app).map((line) => line['traceId'])).toEqual(traces);
  expect(started.receiver.bytes()).not.toContain('canary');
});

test.each([
  ['503', 'UPSTREAM_UNAVAILABLE', { 'error.type': '503', 'http.response.status_code': 503 }],
  ['401', 'UPSTREAM_REJECTED', { 'error.type': '401', 'http.response.status_code': 401 }],
  ['200', 'UPSTREAM_PROTOCOL_ERROR', { 'error.type': 'UPSTREAM_PROTOCOL_ERROR', 'http.response.status_code': 200 }],
  ['reset', 'UPSTREAM_UNAVAILABLE', { 'error.type': 'UPSTREAM_UNAVAILABLE' }],
])('an error is on the span of the operation, and on that of the call: %s', async (token, code, ofCall) => {
  const { servers, clients } = await exportedOf([{ query: queryForTokens([token]) }], {}, SAMPLED);
  expect(servers).toMatchObject([{ status: { code: ERROR } }]);
  expect(servers.map(attributesOf)).toMatchObject([{ 'error.type': code }]);
  expect(clients).toMatchObject([{ status: { code: ERROR } }]);
  expect(clients.map(attributesOf)).toMatchObject([ofCall]);
});

test('an error of the caller is on the span, which did not fail, and a request that was refused has no span', async () => {
  const bodies = [{ query: '{' }, { query: '{ a }' }, [], {}, { query: 4 }];
  const { servers, clients } = await exportedOf(bodies, {}, SAMPLED);
  const span = { parentSpanId: ROUTER, name: 'GraphQL Operation', status: { code: UNSET } };
  expect(servers).toMatchObject([span, span]);
  expect(servers.map(attributesOf)).toMatchObject([
    { 'error.type': 'GRAPHQL_PARSE_FAILED', 'http.response.status_code': 400 },
    { 'error.type': 'GRAPHQL_VALIDATION_FAILED', 'http.response.status_code': 400 },
  ]);
  expect(clients).toEqual([]);
});

test('a rejected token is an answer, so the span of its call has no error', async () => {
  const { clients } = await exportedOf([{ query: queryForTokens(['400']) }], {}, SAMPLED);
  expect(clients).toMatchObject([{ status: { code: UNSET } }]);
  expect(clients.map(attributesOf)).toMatchObject([{ 'http.response.status_code': 400 }]);
  expect(clients.map(attributesOf)).not.toMatchObject([{ 'error.type': expect.anything() }]);
});

test('the span of an operation has the attributes of an HTTP server and of GraphQL, and no others', async () => {
  const { app, servers } = await exportedOf([{ query: `query Login ${queryForTokens(['one'])}` }]);
  expect(servers.map(attributesOf)).toEqual([
    {
      'graphql.operation.type': 'query',
      'graphql.operation.name': 'Login',
      'http.request.method': 'POST',
      'http.route': '/graphql',
      'http.response.status_code': 200,
      'network.protocol.version': '1.1',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(app.url).port),
      'url.path': '/graphql',
      'url.scheme': 'http',
    },
  ]);
});

test('the span of an operation has a name of the schema, however the client names the operation, however often it is sent', async () => {
  const query = `query Chosen_by_a_client { __typename alias: deviceFingerprint(token: "one") { __typename } }`;
  const { servers } = await exportedOf([{ query }, { query }, { query }, { query }]);
  expect(servers.map(({ name }) => name)).toEqual(Array(4).fill('query deviceFingerprint'));
});

test.each([
  ['fingerprint', '/api/v2/fp_query/{public_key}', { query: queryForTokens(['one']) }],
  ['captcha', '/validate', captcha],
])('the span of a call to the %s service has the attributes of an HTTP client, and no id', async (...row) => {
  const [service, template, body] = row;
  const { upstream, clients } = await exportedOf([body]);
  expect(clients).toMatchObject([{ name: `POST ${template}` }]);
  expect(clients.map(attributesOf)).toEqual([
    {
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(upstream.url).port),
      'url.scheme': 'http',
      'url.template': template,
      'upstream.service': service,
      'upstream.region': 'GLB',
    },
  ]);
});

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const UUID = expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);

test('the resource has the name, the version and an id of this process', async () => {
  expect((await exportedOf([PING])).resources).toEqual([
    { 'service.name': 'device-trust', 'service.version': version, 'service.instance.id': UUID },
  ]);
});

const [WITH, WITHOUT] = ['1'.repeat(32), '2'.repeat(32)];
const kindOf = (trace: string) => ({ [WITH]: 'sampled', [WITHOUT]: 'not sampled' })[trace] ?? 'none';

test.each([
  [1, ['none', 'sampled']],
  [0, ['sampled']],
] as const)('with OTEL_TRACES_SAMPLER_ARG=%d, operations are exported whose traceparent is: %j', async (...row) => {
  const [otelTracesSamplerArg, expected] = row;
  const started = await start({ otelTracesSamplerArg });
  for (const headers of [{}, traceparent('01', WITH), traceparent('00', WITHOUT)]) {
    for (const _time of [1, 2]) await send(started.app, { query: queryForTokens(['one']) }, headers);
  }
  const { servers, clients } = await exported(started);
  for (const spans of [servers, clients])
    expect(spans.map(({ traceId }) => kindOf(traceId))).toEqual(expected.flatMap((kind) => [kind, kind]));
});
