import { describe, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import { ANDROID, PASS } from '../faults/documented.ts';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { type ReceivedRequest, sendJson, startUpstream } from '../support/upstream.ts';
import { attributesOf, type ExportedSpan, startReceiver } from './otlp-receiver.ts';
import { operationsOf, queryForTokens, send } from './support.ts';

/** Traces from the router through an operation to each upstream call, as a collector receives them. */

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const ROUTER = 'b7ad6b7169203331';
const SAMPLED = { traceparent: `00-${TRACE}-${ROUTER}-01` };
const input = { lotNumber: 'lot-one', captchaOutput: 'o', passToken: 'p', genTime: '1' };
const [SERVER, CLIENT] = [2, 3];
const [UNSET, ERROR] = [0, 2];

/** An app that exports to a receiver. Its upstream responds with the status that the token names, or as documented. */
async function start(overrides: Partial<Config> = {}) {
  const receiver = await startReceiver();
  const upstream = await startUpstream(({ url, body }, response) => {
    if (url.startsWith('/validate')) return sendJson(response, 200, PASS);
    const { device_token: token } = JSON.parse(body);
    if (token === 'reset') response.socket?.resetAndDestroy();
    else sendJson(response, Number(token) || 200, Number(token) ? { code: Number(token) } : ANDROID);
  });
  onTestFinished(upstream.stop);
  const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
  const options = { otlpEndpoint: receiver.endpoint, otelTracesSampler: 'parentbased_always_on' } as const;
  const app = await startInLiveMode(urls, { ...options, ...overrides });
  onTestFinished(app.stop);
  return { app, receiver, upstream };
}

type Started = Awaited<ReturnType<typeof start>>;

/** Stops the app, which exports the remaining spans first, and returns all spans: of operations, and of upstream calls. */
async function exported({ app, receiver }: Started): Promise<{ servers: ExportedSpan[]; clients: ExportedSpan[] }> {
  await app.stop();
  const spans = receiver.spans();
  return {
    servers: spans.filter(({ kind }) => kind === SERVER),
    clients: spans.filter(({ kind }) => kind === CLIENT),
  };
}

const traceparentsOf = (received: readonly ReceivedRequest[]) => received.map(({ headers }) => headers['traceparent']);
const traceIdOf = (app: TestApp) => operationsOf(app).at(-1)?.['traceId'];

describe('an operation with a traceparent', () => {
  test('is a child span of the router, and each call is a child span of it, whose id the upstream gets', async () => {
    const started = await start({ upstreamTraceparent: true });
    const query = `query Both {
      a: deviceFingerprint(token: "one") { __typename }
      b: deviceFingerprint(token: "two", publicKey: "pk_sandbox_eu") { __typename }
    }`;
    await send(started.app, { query }, SAMPLED);
    const { servers, clients } = await exported(started);

    expect(servers).toMatchObject([
      { traceId: TRACE, parentSpanId: ROUTER, name: 'query deviceFingerprint', status: { code: UNSET } },
    ]);
    const [operation] = servers;
    expect(clients.map(({ traceId, parentSpanId, name }) => [traceId, parentSpanId, name])).toEqual([
      [TRACE, operation?.spanId, 'POST /api/v2/fp_query/{public_key}'],
      [TRACE, operation?.spanId, 'POST /api/v2/fp_query/{public_key}'],
    ]);
    expect(clients.map(attributesOf)).toMatchObject([{ 'upstream.region': 'GLB' }, { 'upstream.region': 'EU' }]);
    expect(traceparentsOf(started.upstream.received).sort()).toEqual(
      clients.map(({ spanId }) => `00-${TRACE}-${spanId}-01`).sort(),
    );
    expect(traceIdOf(started.app)).toBe(TRACE);
    // OpenTelemetry takes each start from the wall clock, in whole ms, so that two spans can disagree by one.
    const millisecond = 1_000_000n;
    for (const { startTimeUnixNano, endTimeUnixNano } of clients) {
      expect(BigInt(startTimeUnixNano)).toBeGreaterThan(BigInt(operation?.startTimeUnixNano ?? 0) - millisecond);
      expect(BigInt(endTimeUnixNano)).toBeLessThan(BigInt(operation?.endTimeUnixNano ?? 0) + millisecond);
    }
  });

  test('is the parent of a captcha call as well', async () => {
    const started = await start({ upstreamTraceparent: true });
    await send(started.app, { query: CAPTCHA_MUTATION, variables: { input } }, SAMPLED);
    const { servers, clients } = await exported(started);
    expect(servers).toMatchObject([{ traceId: TRACE, parentSpanId: ROUTER, name: 'mutation validateCaptcha' }]);
    expect(clients).toMatchObject([{ name: 'POST /validate' }]);
    expect(traceparentsOf(started.upstream.received)).toEqual([`00-${TRACE}-${clients[0]?.spanId}-01`]);
  });

  test('has one span for a call that many fields share', async () => {
    const started = await start();
    await send(started.app, { query: queryForTokens(Array(10).fill('one')) }, SAMPLED);
    expect((await exported(started)).clients).toHaveLength(1);
  });

  test('that is not sampled exports nothing, and the upstream gets a traceparent that is not sampled', async () => {
    const started = await start({ upstreamTraceparent: true });
    const { text } = await send(
      started.app,
      { query: queryForTokens(['one']) },
      { traceparent: `00-${TRACE}-${ROUTER}-00` },
    );
    expect(JSON.parse(text)).toEqual({ data: { a0: { __typename: 'DeviceFingerprint' } } });
    expect(await exported(started)).toEqual({ servers: [], clients: [] });
    expect(traceparentsOf(started.upstream.received)).toEqual([
      expect.stringMatching(new RegExp(`^00-${TRACE}-(?!0{16})[\\da-f]{16}-00$`)),
    ]);
    expect(traceIdOf(started.app)).toBe(TRACE);
  });
});

describe('an operation without a valid traceparent', () => {
  test.each<[string, Record<string, string>]>([
    ['no header', {}],
    ['an empty header', { traceparent: '' }],
    ['no trace id', { traceparent: `00-${'0'.repeat(32)}-${ROUTER}-01` }],
    ['no parent id', { traceparent: `00-${TRACE}-${'0'.repeat(16)}-01` }],
    ['a forbidden version', { traceparent: `ff-${TRACE}-${ROUTER}-01` }],
    ['more fields than version 00 has', { traceparent: `00-${TRACE}-${ROUTER}-01-canary` }],
    ['any other text', { traceparent: 'ada.canary@mail.example' }],
    ['headers of other formats', { b3: `${TRACE}-${ROUTER}-1`, 'uber-trace-id': `${TRACE}:${ROUTER}:0:1` }],
  ])('starts a new trace: %s', async (_what, headers) => {
    const started = await start();
    await send(started.app, { query: queryForTokens(['one']) }, headers);
    const { servers, clients } = await exported(started);
    const [operation] = servers;
    expect(operation?.traceId).toMatch(/^(?!0{32})[\da-f]{32}$/);
    expect(operation?.traceId).not.toBe(TRACE);
    expect(operation?.parentSpanId ?? '').toBe('');
    expect(clients).toMatchObject([{ traceId: operation?.traceId, parentSpanId: operation?.spanId }]);
    expect(traceIdOf(started.app)).toBe(operation?.traceId);
    expect(started.receiver.bytes()).not.toContain('canary');
  });

  test('starts another trace than the operation before', async () => {
    const started = await start();
    for (const token of ['one', 'two']) await send(started.app, { query: queryForTokens([token]) });
    const { servers } = await exported(started);
    expect(new Set(servers.map(({ traceId }) => traceId)).size).toBe(2);
  });
});

describe('an error', () => {
  test.each([
    ['503', 'UPSTREAM_UNAVAILABLE', { 'error.type': '503', 'http.response.status_code': 503 }],
    ['401', 'UPSTREAM_REJECTED', { 'error.type': '401', 'http.response.status_code': 401 }],
    ['reset', 'UPSTREAM_UNAVAILABLE', { 'error.type': 'UPSTREAM_UNAVAILABLE' }],
  ])('is on the span of the operation, and on that of the call: %s', async (token, code, ofCall) => {
    const started = await start();
    await send(started.app, { query: queryForTokens([token]) }, SAMPLED);
    const { servers, clients } = await exported(started);
    expect(servers).toMatchObject([{ status: { code: ERROR } }]);
    expect(servers.map(attributesOf)).toMatchObject([{ 'error.type': code }]);
    expect(clients).toMatchObject([{ status: { code: ERROR } }]);
    expect(clients.map(attributesOf)).toMatchObject([ofCall]);
  });

  test.each([
    [{ query: '{' }, 'GRAPHQL_PARSE_FAILED'],
    [{ query: '{ a }' }, 'GRAPHQL_VALIDATION_FAILED'],
  ])('of the caller is on the span, which did not fail: %o', async (body, code) => {
    const started = await start();
    await send(started.app, body, SAMPLED);
    const { servers } = await exported(started);
    expect(servers).toMatchObject([{ parentSpanId: ROUTER, name: 'GraphQL Operation', status: { code: UNSET } }]);
    expect(servers.map(attributesOf)).toMatchObject([{ 'error.type': code, 'http.response.status_code': 400 }]);
  });

  test('of a request that was refused has no span', async () => {
    const started = await start();
    for (const body of [[], {}, { query: 4 }]) await send(started.app, body, SAMPLED);
    expect(await exported(started)).toEqual({ servers: [], clients: [] });
  });
});

describe('a rejected token', () => {
  test('is an answer, so the call has not failed', async () => {
    const started = await start();
    await send(started.app, { query: queryForTokens(['400']) }, SAMPLED);
    const { clients } = await exported(started);
    expect(clients).toMatchObject([{ status: { code: UNSET } }]);
    expect(clients.map(attributesOf)).toMatchObject([{ 'http.response.status_code': 400 }]);
    expect(clients.map(attributesOf)).not.toMatchObject([{ 'error.type': expect.anything() }]);
  });
});

describe('an upstream gets no traceparent', () => {
  test.each(['00', '01'])('unless it may, with the flags %s', async (flags) => {
    const started = await start();
    await send(started.app, { query: queryForTokens(['one']) }, { traceparent: `00-${TRACE}-${ROUTER}-${flags}` });
    expect(traceparentsOf(started.upstream.received)).toEqual([undefined]);
  });
});
