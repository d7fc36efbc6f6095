import { afterAll, describe, expect, test } from 'vitest';
import { linesOf, operationsOf, queryForTokens, send, startAgainst, startSandboxed } from '../observability/support.ts';
import { startInSandboxMode } from '../support/app.ts';
import { CAPTCHA_MUTATION, ENTITIES_QUERY, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { hang } from '../support/hostile.ts';
import { startOperation } from '../support/requests.ts';

/** Each GraphQL operation has one log line. */

const app = await startInSandboxMode();
afterAll(app.stop);

/** Sends an operation, and returns its log line. */
async function lineOf(body: object, headers: Readonly<Record<string, string>> = {}) {
  const before = operationsOf(app).length;
  await send(app, body, headers);
  const lines = operationsOf(app).slice(before);
  expect(lines).toHaveLength(1);
  return lines[0] ?? {};
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const PLAIN = { query: 'query Ping { __typename }' };
const input = { lotNumber: 'unheard-of', captchaOutput: 'o', passToken: 'p', genTime: '1' };

describe('the line', () => {
  test('has every field for an operation with a name, a client, a trace and an upstream call', async () => {
    const line = await lineOf(
      { query: FINGERPRINT_QUERY.replace('query', 'query Login'), variables: { token: 'sandbox:delay:60:web' } },
      {
        'x-request-id': 'router-1.2_3',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        'apollographql-client-name': 'shop-web',
        'apollographql-client-version': '1.2.3',
      },
    );
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      requestId: 'router-1.2_3',
      traceId: '0af7651916cd43dd8448eb211c80319c',
      caller: 'anyone',
      operation: 'Login',
      client: 'shop-web',
      clientVersion: '1.2.3',
      outcomes: { DeviceFingerprint: 1 },
      upstreamCalls: 1,
      upstreamMs: expect.any(Number),
      ms: expect.any(Number),
      msg: 'operation',
    });
    expect(line['upstreamMs']).toBeGreaterThanOrEqual(60);
    expect(line['ms']).toBeGreaterThanOrEqual(Number(line['upstreamMs']));
    expect(line['ms']).toBeLessThan(5_000);
  });

  test('has fewer fields for an operation without a name and upstream calls', async () => {
    expect(await lineOf({ query: '{ signalCatalogue { code } }' })).toEqual({
      level: 'info',
      time: expect.any(String),
      requestId: expect.stringMatching(UUID),
      caller: 'anyone',
      outcomes: {},
      upstreamCalls: 0,
      upstreamMs: 0,
      ms: expect.any(Number),
      msg: 'operation',
    });
  });

  test.each<[string, object, object]>([
    [
      'results of each type and the upstream calls',
      { query: queryForTokens(['sandbox:web', 'sandbox:web', 'sandbox:ios', 'made-up']) },
      { outcomes: { DeviceFingerprint: 3, DeviceFingerprintRejected: 1 }, upstreamCalls: 3 },
    ],
    [
      'the type of a captcha verdict',
      { query: CAPTCHA_MUTATION, variables: { input } },
      { outcomes: { CaptchaIndeterminate: 1 }, upstreamCalls: 1 },
    ],
    [
      'the types and errors of references',
      {
        query: ENTITIES_QUERY,
        variables: {
          representations: ['sandbox:web', 'made-up'].map((token) => ({ __typename: 'DeviceFingerprint', token })),
        },
      },
      {
        outcomes: { DeviceFingerprint: 1, DeviceFingerprintRejected: 1 },
        errors: ['DEVICE_TOKEN_REJECTED'],
        upstreamCalls: 2,
      },
    ],
    [
      'errors beside results',
      { query: queryForTokens(['sandbox:web', 'sandbox:error:500']) },
      { outcomes: { DeviceFingerprint: 1 }, errors: ['UPSTREAM_UNAVAILABLE'], upstreamCalls: 2 },
    ],
    [
      'each error code once',
      { query: queryForTokens(Array.from({ length: 30 }, (_, i) => `sandbox:error:${i < 15 ? 500 : 401}#${i}`)) },
      { outcomes: {}, errors: ['UPSTREAM_UNAVAILABLE', 'UPSTREAM_REJECTED'], upstreamCalls: 30 },
    ],
    ['the code of a syntax error', { query: '{' }, { errors: ['GRAPHQL_PARSE_FAILED'] }],
    [
      'the code of a document that is not valid',
      { query: 'query A { nothing }' },
      { errors: ['GRAPHQL_VALIDATION_FAILED'] },
    ],
    [
      'the code of an unknown operation name',
      { query: 'query A { __typename }', operationName: 'B' },
      { errors: ['OPERATION_RESOLUTION_FAILURE'] },
    ],
    [
      'the code of variables that are not valid',
      { query: FINGERPRINT_QUERY, variables: { token: 4 } },
      { errors: ['BAD_USER_INPUT'], upstreamCalls: 0 },
    ],
    [
      'the code of a persisted query',
      { extensions: { persistedQuery: {} } },
      { errors: ['PERSISTED_QUERY_NOT_SUPPORTED'] },
    ],
  ])('has %s', async (_what, body, expected) => {
    expect(await lineOf(body)).toMatchObject(expected);
  });

  test('has the code CANCELLED if the client disconnected', async () => {
    const asked = Promise.withResolvers<void>();
    const { app: hanging } = await startAgainst((exchange) => {
      hang(exchange);
      asked.resolve();
    });
    const disconnect = startOperation(hanging.graphqlUrl, { query: queryForTokens(['a']) });
    await asked.promise;
    disconnect();
    await expect.poll(() => operationsOf(hanging)).toMatchObject([{ errors: ['CANCELLED'], upstreamCalls: 1 }]);
  });

  test('has the code BAD_REQUEST if no content type of the Accept header is available', async () => {
    expect(await lineOf(PLAIN, { accept: 'image/png' })).toMatchObject({ operation: 'Ping', errors: ['BAD_REQUEST'] });
  });
});

describe('tokens in the line', () => {
  const KEY = 'a-key-of-16-characters-or-more';
  // printf 'sandbox:web' | openssl dgst -sha256 -hmac "$LOG_HASH_KEY" | cut -c 1-12
  const [WEB, IOS] = ['a1256d353fd6', 'f46290dd2739'];

  test('are keyed hashes at debug, in the order of the operation', async () => {
    const debugging = await startSandboxed({ logLevel: 'debug', logHashKey: KEY });
    await send(debugging, { query: queryForTokens(['sandbox:web', 'sandbox:ios', 'sandbox:web']) });
    const representations = [{ __typename: 'DeviceFingerprint', token: 'sandbox:web' }];
    await send(debugging, { query: ENTITIES_QUERY, variables: { representations } });
    await send(debugging, { query: CAPTCHA_MUTATION, variables: { input } });
    expect(operationsOf(debugging).map(({ tokens }) => tokens)).toEqual([[WEB, IOS, WEB], [WEB], []]);
  });

  test('have another hash with another key', async () => {
    const debugging = await startSandboxed({ logLevel: 'trace', logHashKey: `${KEY}!` });
    await send(debugging, { query: queryForTokens(['sandbox:web', 'sandbox:web']) });
    const [hash, same] = Object(operationsOf(debugging)[0]?.['tokens']);
    expect(hash).toMatch(/^[\da-f]{12}$/);
    expect(hash).not.toBe(WEB);
    expect(same).toBe(hash);
  });

  test('are left out at info', async () => {
    expect(await lineOf({ query: queryForTokens(['sandbox:web']) })).not.toHaveProperty('tokens');
  });
});

describe('no line', () => {
  test('is written for a request that is refused, nor for a page', async () => {
    const quiet = await startSandboxed();
    const post = (body: string, type = 'application/json') =>
      fetch(quiet.graphqlUrl, { method: 'POST', headers: { 'content-type': type }, body });
    for (const body of ['', '{', '[]', '{}', 'null', '"text"', '[{"query":"{ __typename }"}]', '{"query":4}']) {
      expect((await post(body)).status).toBe(400);
    }
    expect((await post('{"query":"{ __typename }"}', 'text/plain')).status).toBe(415);
    for (const path of ['/graphql', '/graphiql', '/', '/healthz', '/readyz', '/nothing']) {
      await (await fetch(quiet.url + path, { headers: { accept: 'text/html' } })).text();
    }
    expect(linesOf(quiet)).toMatchObject([{ msg: 'ready' }]);
  });
});
