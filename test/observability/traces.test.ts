import { describe, expect, onTestFinished, test } from 'vitest';
import { ANDROID, PASS } from '../faults/documented.ts';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { type ReceivedRequest, sendJson, startUpstream } from '../support/upstream.ts';
import { attributesOf, type ExportedSpan, startReceiver } from './receiver.ts';
import { aboutTokens, operationsOf, send } from './support.ts';

/** One trace from the router through an operation to each upstream call, as a collector receives it. */

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const ROUTER = 'b7ad6b7169203331';
const SAMPLED = { traceparent: `00-${TRACE}-${ROUTER}-01` };
const input = { lotNumber: 'lot-one', captchaOutput: 'o', passToken: 'p', genTime: '1' };
const [SERVER, CLIENT] = [2, 3];
const [UNSET, ERROR] = [0, 2];

/** An app that exports to a receiver, against an upstream that answers by the token: a status, or well. */
async function start() {
  const receiver = await startReceiver();
  const upstream = await startUpstream(({ url, body }, response) => {
    if (url.startsWith('/validate')) return sendJson(response, 200, PASS);
    const { device_token: token } = JSON.parse(body);
    if (token === 'reset') response.socket?.resetAndDestroy();
    else sendJson(response, Number(token) || 200, Number(token) ? { code: Number(token) } : ANDROID);
  });
  onTestFinished(upstream.stop);
  const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
  const app = await startInLiveMode(urls, { otlpEndpoint: receiver.endpoint });
  onTestFinished(app.stop);
  return { app, receiver, upstream };
}

type Started = Awaited<ReturnType<typeof start>>;

/** What was exported once the app has ended, which it does only after that: the operation, and its calls. */
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

describe('with a traceparent of the router', () => {
  test('an operation is a span below that of the router, and each call one below it that the upstream is told of', async () => {
    const started = await start();
    const query = `query Both {
      a: deviceFingerprint(token: "one") { __typename }
      b: deviceFingerprint(token: "two", publicKey: "pk_sandbox_eu") { __typename }
    }`;
    await send(started.app, { query }, SAMPLED);
    const { servers, clients } = await exported(started);

    expect(servers).toMatchObject([
      { traceId: TRACE, parentSpanId: ROUTER, name: 'graphql Both', status: { code: UNSET }, attributes: [] },
    ]);
    const [operation] = servers;
    expect(clients.map(({ traceId, parentSpanId, name }) => [traceId, parentSpanId, name])).toEqual([
      [TRACE, operation?.spanId, 'call fingerprint'],
      [TRACE, operation?.spanId, 'call fingerprint'],
    ]);
    expect(clients.map(attributesOf)).toEqual([
      { 'upstream.service': 'fingerprint', 'upstream.region': 'GLB' },
      { 'upstream.service': 'fingerprint', 'upstream.region': 'EU' },
    ]);
    expect(traceparentsOf(started.upstream.received).sort()).toEqual(
      clients.map(({ spanId }) => `00-${TRACE}-${spanId}-01`).sort(),
    );
    expect(traceIdOf(started.app)).toBe(TRACE);
    for (const { startTimeUnixNano, endTimeUnixNano } of clients) {
      expect(BigInt(startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(operation?.startTimeUnixNano ?? 0));
      expect(BigInt(endTimeUnixNano)).toBeLessThanOrEqual(BigInt(operation?.endTimeUnixNano ?? 0));
    }
    expect(started.receiver.resources()).toEqual([expect.objectContaining({ 'service.name': 'device-trust' })]);
  });

  test('so it is with a captcha', async () => {
    const started = await start();
    await send(started.app, { query: CAPTCHA_MUTATION, variables: { input } }, SAMPLED);
    const { servers, clients } = await exported(started);
    expect(servers).toMatchObject([{ traceId: TRACE, parentSpanId: ROUTER, name: 'graphql' }]);
    expect(clients.map(attributesOf)).toEqual([{ 'upstream.service': 'captcha', 'upstream.region': 'GLB' }]);
    expect(traceparentsOf(started.upstream.received)).toEqual([`00-${TRACE}-${clients[0]?.spanId}-01`]);
  });

  test('one call for many fields is one span', async () => {
    const started = await start();
    await send(started.app, { query: aboutTokens(Array(10).fill('one')) }, SAMPLED);
    expect((await exported(started)).clients).toHaveLength(1);
  });

  test('that is not sampled, nothing is exported, and the upstream is told that it is not', async () => {
    const started = await start();
    const { text } = await send(
      started.app,
      { query: aboutTokens(['one']) },
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

describe('without one', () => {
  test.each<[string, Record<string, string>]>([
    ['at all', {}],
    ['that is not empty', { traceparent: '' }],
    ['that has a trace', { traceparent: `00-${'0'.repeat(32)}-${ROUTER}-01` }],
    ['that has a parent', { traceparent: `00-${TRACE}-${'0'.repeat(16)}-01` }],
    ['of a version that may be', { traceparent: `ff-${TRACE}-${ROUTER}-01` }],
    ['in the form of one', { traceparent: `00-${TRACE}-${ROUTER}-01-canary` }],
    ['that is none of ours', { traceparent: 'ada.canary@mail.example' }],
    ['but of another kind', { b3: `${TRACE}-${ROUTER}-1`, 'uber-trace-id': `${TRACE}:${ROUTER}:0:1` }],
  ])('%s, an operation begins a trace of its own', async (_what, headers) => {
    const started = await start();
    await send(started.app, { query: aboutTokens(['one']) }, headers);
    const { servers, clients } = await exported(started);
    const [operation] = servers;
    expect(operation?.traceId).toMatch(/^(?!0{32})[\da-f]{32}$/);
    expect(operation?.traceId).not.toBe(TRACE);
    expect(operation?.parentSpanId ?? '').toBe('');
    expect(clients).toMatchObject([{ traceId: operation?.traceId, parentSpanId: operation?.spanId }]);
    expect(traceIdOf(started.app)).toBe(operation?.traceId);
    expect(started.receiver.bytes()).not.toContain('canary');
  });

  test('two operations begin two traces', async () => {
    const started = await start();
    for (const token of ['one', 'two']) await send(started.app, { query: aboutTokens([token]) });
    const { servers } = await exported(started);
    expect(new Set(servers.map(({ traceId }) => traceId)).size).toBe(2);
  });
});

describe('what went wrong', () => {
  test.each([
    ['503', 'UPSTREAM_UNAVAILABLE', { 'error.type': 'http_5xx' }, ERROR],
    ['reset', 'UPSTREAM_UNAVAILABLE', { 'error.type': 'UPSTREAM_UNAVAILABLE' }, ERROR],
    // The service did its part: it is our credentials that are wrong.
    ['401', 'UPSTREAM_REJECTED', {}, UNSET],
  ])('marks the operation with its code, and the call if it failed: %s', async (token, code, ofCall, status) => {
    const started = await start();
    await send(started.app, { query: aboutTokens([token]) }, SAMPLED);
    const { servers, clients } = await exported(started);
    expect(servers).toMatchObject([{ status: { code: ERROR } }]);
    expect(servers.map(attributesOf)).toEqual([{ 'error.type': code }]);
    expect(clients).toMatchObject([{ status: { code: status } }]);
    expect(clients.map(attributesOf)).toEqual([
      { 'upstream.service': 'fingerprint', 'upstream.region': 'GLB', ...ofCall },
    ]);
  });

  test.each([
    [{ query: '{' }, 'GRAPHQL_PARSE_FAILED'],
    [{ query: '{ a }' }, 'GRAPHQL_VALIDATION_FAILED'],
  ])('marks an operation that was never executed: %o', async (body, code) => {
    const started = await start();
    await send(started.app, body, SAMPLED);
    const { servers } = await exported(started);
    expect(servers).toMatchObject([{ parentSpanId: ROUTER, name: 'graphql', status: { code: ERROR } }]);
    expect(servers.map(attributesOf)).toEqual([{ 'error.type': code }]);
  });

  test('is no operation, and so no span, if the request was refused', async () => {
    const started = await start();
    for (const body of [[], {}, { query: 4 }]) await send(started.app, body, SAMPLED);
    expect(await exported(started)).toEqual({ servers: [], clients: [] });
  });
});

test('a name is no longer than 64 characters', async () => {
  const started = await start();
  await send(started.app, { query: `query ${'a'.repeat(10_000)} { __typename }` }, SAMPLED);
  expect((await exported(started)).servers).toMatchObject([{ name: `graphql ${'a'.repeat(64)}` }]);
});
