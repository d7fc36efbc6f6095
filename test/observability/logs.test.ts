import { afterAll, describe, expect, test } from 'vitest';
import { startInSandboxMode } from '../support/app.ts';
import { CAPTCHA_MUTATION, ENTITIES_QUERY, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { hang } from '../support/hostile.ts';
import { startOperation } from '../support/requests.ts';
import { aboutTokens, linesOf, operationsOf, send, startAgainst, startSandboxed } from './support.ts';

/** The one line that each GraphQL operation leaves in the log. */

const app = await startInSandboxMode();
afterAll(app.stop);

/** The line of an operation that is sent now. */
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

describe('what it says', () => {
  test('of one with everything', async () => {
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

  test('of one that asks no upstream and has no name', async () => {
    expect(await lineOf({ query: '{ signalCatalogue { code } }' })).toEqual({
      level: 'info',
      time: expect.any(String),
      requestId: expect.stringMatching(UUID),
      outcomes: {},
      upstreamCalls: 0,
      upstreamMs: 0,
      ms: expect.any(Number),
      msg: 'operation',
    });
  });

  test.each<[string, object, object]>([
    [
      'answers, each as often as it came, and calls, each once',
      { query: aboutTokens(['sandbox:web', 'sandbox:web', 'sandbox:ios', 'made-up']) },
      { outcomes: { DeviceFingerprint: 3, DeviceFingerprintRejected: 1 }, upstreamCalls: 3 },
    ],
    [
      'a captcha',
      { query: CAPTCHA_MUTATION, variables: { input } },
      { outcomes: { CaptchaIndeterminate: 1 }, upstreamCalls: 1 },
    ],
    [
      'references',
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
      'errors beside answers',
      { query: aboutTokens(['sandbox:web', 'sandbox:error:500']) },
      { outcomes: { DeviceFingerprint: 1 }, errors: ['UPSTREAM_UNAVAILABLE'], upstreamCalls: 2 },
    ],
    [
      'each code of an error once',
      { query: aboutTokens(Array.from({ length: 30 }, (_, i) => `sandbox:error:${i < 15 ? 500 : 401}#${i}`)) },
      { outcomes: {}, errors: ['UPSTREAM_UNAVAILABLE', 'UPSTREAM_REJECTED'], upstreamCalls: 30 },
    ],
    ['a syntax error', { query: '{' }, { errors: ['GRAPHQL_PARSE_FAILED'] }],
    ['a document that does not fit', { query: 'query A { nothing }' }, { errors: ['GRAPHQL_VALIDATION_FAILED'] }],
    [
      'an operation that is not there',
      { query: 'query A { __typename }', operationName: 'B' },
      { errors: ['OPERATION_RESOLUTION_FAILURE'] },
    ],
    [
      'variables that do not fit',
      { query: FINGERPRINT_QUERY, variables: { token: 4 } },
      { errors: ['BAD_USER_INPUT'], upstreamCalls: 0 },
    ],
    ['a hash alone', { extensions: { persistedQuery: {} } }, { errors: ['PERSISTED_QUERY_NOT_SUPPORTED'] }],
  ])('of %s', async (_what, body, expected) => {
    expect(await lineOf(body)).toMatchObject(expected);
  });

  test('of a caller that hung up, that it did', async () => {
    const asked = Promise.withResolvers<void>();
    const { app: hanging } = await startAgainst((exchange) => {
      hang(exchange);
      asked.resolve();
    });
    const disconnect = startOperation(hanging.graphqlUrl, { query: aboutTokens(['a']) });
    await asked.promise;
    disconnect();
    await expect.poll(() => operationsOf(hanging)).toMatchObject([{ errors: ['CANCELLED'], upstreamCalls: 1 }]);
  });

  test('of an answer that cannot be in any form that was asked for, that it was none', async () => {
    expect(await lineOf(PLAIN, { accept: 'image/png' })).toMatchObject({ operation: 'Ping', errors: ['BAD_REQUEST'] });
  });
});

describe('what it says of tokens', () => {
  const KEY = 'a-key-of-16-characters-or-more';
  // printf 'sandbox:web' | openssl dgst -sha256 -hmac "$LOG_HASH_KEY" | cut -c 1-12
  const [WEB, IOS] = ['a1256d353fd6', 'f46290dd2739'];

  test('is a keyed hash of each at debug, in the order in which they were asked about', async () => {
    const debugging = await startSandboxed({ logLevel: 'debug', logHashKey: KEY });
    await send(debugging, { query: aboutTokens(['sandbox:web', 'sandbox:ios', 'sandbox:web']) });
    const representations = [{ __typename: 'DeviceFingerprint', token: 'sandbox:web' }];
    await send(debugging, { query: ENTITIES_QUERY, variables: { representations } });
    await send(debugging, { query: CAPTCHA_MUTATION, variables: { input } });
    expect(operationsOf(debugging).map(({ tokens }) => tokens)).toEqual([[WEB, IOS, WEB], [WEB], []]);
  });

  test('is another hash under another key', async () => {
    const debugging = await startSandboxed({ logLevel: 'trace', logHashKey: `${KEY}!` });
    await send(debugging, { query: aboutTokens(['sandbox:web', 'sandbox:web']) });
    const [hash, same] = Object(operationsOf(debugging)[0]?.['tokens']);
    expect(hash).toMatch(/^[\da-f]{12}$/);
    expect(hash).not.toBe(WEB);
    expect(same).toBe(hash);
  });

  test('is nothing at info', async () => {
    expect(await lineOf({ query: aboutTokens(['sandbox:web']) })).not.toHaveProperty('tokens');
  });
});

describe('what leaves no such line', () => {
  test('requests that became no operation, and pages', async () => {
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
