import { afterAll, expect, test } from 'vitest';
import { linesOf, operationsOf, send, startSandboxed } from '../observability/support.ts';
import { startInSandboxMode } from '../support/app.ts';
import { solveChallenge } from '../support/challenges.ts';
import {
  CAPTCHA_INPUT,
  CAPTCHA_MUTATION,
  ENTITIES_QUERY,
  FINGERPRINT_QUERY,
  queryForTokens,
  referencesTo,
} from '../support/graphql.ts';
import { json, post, postBytes, request, sendBytes } from '../support/requests.ts';

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

test('the line of an operation says what the policy decided, by which rule, and which shadow rules would have decided before', async () => {
  const decide = (tokens: readonly string[]) => ({
    query: `{ ${tokens.map((token, at) => `t${at}: deviceFingerprint(token: ${JSON.stringify(token)}) { ... on DeviceFingerprint { decision { policy } } }`).join(' ')} }`,
  });
  const policy = expect.stringMatching(/^[\da-f]{12}$/);
  const shadowed = await lineOf(decide(['sandbox:web:ANTIDETECT_BROWSER,PSEUDO_BROWSER_ENV']));
  expect(shadowed).toMatchObject({ decision: 'CHALLENGE', rule: 'serious', policy, shadow: 'tools-in-use' });
  const several = await lineOf(decide(['sandbox:ios', 'sandbox:ios:WHITELIST_IP', 'sandbox:web']));
  expect(several).toMatchObject({ decision: 'ALLOW DENY', rule: 'otherwise listed', policy });
  expect(Object.keys(await lineOf({ query: queryForTokens(['sandbox:ios:BLACKLIST_IP']) }))).not.toContain('decision');
});

test('the line of an operation with a name, a client, a trace and an upstream call has every field', async () => {
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

test('the line of an operation without a name and upstream calls has fewer fields', async () => {
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

const failing = Array.from({ length: 30 }, (_, at) => `sandbox:error:${at < 15 ? 500 : 401}#${at}`);

test.each<[string, object, object]>([
  [
    'results of each type, and all upstream calls with their time',
    { query: queryForTokens([...Array(2).fill('sandbox:delay:200:web'), 'sandbox:delay:200:ios', 'made-up']) },
    {
      outcomes: { DeviceFingerprint: 3, DeviceFingerprintRejected: 1 },
      upstreamCalls: 3,
      upstreamMs: expect.toSatisfy((ms) => ms >= 399),
    },
  ],
  [
    'the type of a captcha verdict',
    { query: CAPTCHA_MUTATION, variables: { input: CAPTCHA_INPUT } },
    { outcomes: { CaptchaIndeterminate: 1 }, upstreamCalls: 1 },
  ],
  [
    'the types and errors of references',
    { query: ENTITIES_QUERY, variables: referencesTo(['sandbox:web', 'made-up']) },
    { outcomes: { DeviceFingerprint: 1, DeviceFingerprintRejected: 1 }, errors: ['DEVICE_TOKEN_REJECTED'] },
  ],
  [
    'results beside errors, each code once',
    { query: queryForTokens(['sandbox:web', ...failing]) },
    { outcomes: { DeviceFingerprint: 1 }, errors: ['UPSTREAM_UNAVAILABLE', 'UPSTREAM_REJECTED'], upstreamCalls: 31 },
  ],
  ['the code of a syntax error', { query: '{' }, { errors: ['GRAPHQL_PARSE_FAILED'] }],
  ['the code of too many lines', { query: '\n'.repeat(2_000) }, { errors: ['GRAPHQL_PARSE_FAILED'] }],
  ['the code of wrong variables', { query: FINGERPRINT_QUERY }, { errors: ['BAD_USER_INPUT'], upstreamCalls: 0 }],
  [
    'the code of a persisted query',
    { extensions: { persistedQuery: {} } },
    { errors: ['PERSISTED_QUERY_NOT_SUPPORTED'] },
  ],
])('the line of an operation has %s', async (_what, body, expected) => {
  expect(await lineOf(body)).toMatchObject(expected);
});

const KEY = 'a-key-of-16-characters-or-more';

test('the line names by a keyed hash the person for whom risk was read, and nobody else', async () => {
  const trustedHeaders = { subject: 'x-user-id', scopes: 'x-user-scopes' };
  const audited = await startSandboxed({ logHashKey: KEY, trustedHeaders });
  const ask = (query: string, scopes = 'risk:read', variables = {}) =>
    send(audited, { query, variables }, { 'x-user-id': 'user-1', 'x-user-scopes': scopes });
  const device = (field: string) =>
    `{ deviceFingerprint(token: "sandbox:web") { ... on DeviceFingerprint { ${field} } } }`;
  const { judgement } = JSON.parse((await ask(device('judgement { __typename sealed }'))).text).data.deviceFingerprint;
  await ask(ENTITIES_QUERY, 'risk:read', { representations: [judgement] });
  await ask(device('clientType'));
  await ask(device('decision { action }'), 'openid');
  // printf 'user-1' | openssl dgst -sha256 -hmac "$LOG_HASH_KEY" | cut -c 1-12
  expect(operationsOf(audited).map(({ person }) => person)).toEqual([
    '7ebb8e8bcd56',
    '7ebb8e8bcd56',
    undefined,
    undefined,
  ]);
});

// printf 'sandbox:web' | openssl dgst -sha256 -hmac "$LOG_HASH_KEY" | cut -c 1-12
const [WEB, IOS] = ['a1256d353fd6', 'f46290dd2739'];

test('tokens in the line are keyed hashes at debug, in the order of the operation', async () => {
  const debugging = await startSandboxed({ logLevel: 'debug', logHashKey: KEY });
  await send(debugging, { query: queryForTokens(['sandbox:web', 'sandbox:ios', 'sandbox:web']) });
  await send(debugging, { query: ENTITIES_QUERY, variables: referencesTo(['sandbox:web']) });
  await send(debugging, { query: CAPTCHA_MUTATION, variables: { input: CAPTCHA_INPUT } });
  expect(operationsOf(debugging).map(({ tokens }) => tokens)).toEqual([[WEB, IOS, WEB], [WEB], []]);
});

test('tokens in the line have another hash with another key, and without a key another one in each process', async () => {
  const hashes = new Set([WEB]);
  for (const logHashKey of [`${KEY}!`, undefined, undefined]) {
    const debugging = await startSandboxed({ logLevel: 'trace', logHashKey });
    await send(debugging, { query: queryForTokens(['sandbox:web', 'sandbox:web']) });
    const [hash, same] = Object(operationsOf(debugging)[0]?.['tokens']);
    expect(hash).toMatch(/^[\da-f]{12}$/);
    expect(same).toBe(hash);
    hashes.add(hash);
  }
  expect(hashes.size).toBe(4);
});

test('tokens in the line are left out at info', async () => {
  expect(await lineOf({ query: queryForTokens(['sandbox:web']) })).not.toHaveProperty('tokens');
});

test('a request that is refused and a page write no line of an operation', async () => {
  const quiet = await startSandboxed();
  const statusOf = async (init: RequestInit) => (await request(quiet.graphqlUrl, init)).status;
  for (const body of ['', '{', '[]', '{}', 'null', '"text"', '[{"query":"{ __typename }"}]', '{"query":4}']) {
    expect(await statusOf(json(body))).toBe(400);
  }
  expect(await statusOf(json('{"query":"{ __typename }"}', { 'content-type': 'text/plain' }))).toBe(415);
  for (const init of [
    { method: 'DELETE' },
    json(' '.repeat(600_000)),
    json(`{"query":"","variables":${'['.repeat(50_000)}${']'.repeat(50_000)}}`),
    ...['image/png', ';;q=x,,'].map((accept) => json('{"query":"{ __typename }"}', { accept })),
  ])
    expect(await statusOf(init)).toBeGreaterThanOrEqual(400);
  for (const path of ['/graphql', '/graphiql', '/', '/healthz', '/readyz', '/nothing']) {
    await (await fetch(quiet.url + path, { headers: { accept: 'text/html' } })).text();
  }
  expect(linesOf(quiet)).toMatchObject([{ msg: 'ready' }]);
});

const MAIL = 'ada.canary@mail.example';
const LONG = 'a'.repeat(10_000);

const ACCENT = Buffer.from('é').toString('latin1');
test.each([{}, { 'x-request-id': 'router-1.2_3' }])('an answer has the request id of its line: %j', async (headers) => {
  const answer = await post(app.graphqlUrl, JSON.stringify(PLAIN), headers);
  const { requestId } = operationsOf(app).at(-1) ?? {};
  expect(answer.headers.get('x-request-id')).toBe(requestId);
  expect(requestId).toMatch(headers['x-request-id'] ?? UUID);
});

const IDS = [MAIL, 'two words', LONG, 'a'.repeat(65), '', ACCENT, '{"a":1}'];
test.each(IDS)('a request id like %j is replaced by a new one', async (id) => {
  expect((await lineOf(PLAIN, { 'x-request-id': id }))['requestId']).toMatch(UUID);
});

test.each([
  ['a second, folded line', `x-request-id: router\r\n ${MAIL}`],
  ['a log line', `x-request-id: router\n{"level":"error","client":"${MAIL}"}`],
  ['another id', `x-request-id: router\r\nx-request-id: ${MAIL}`],
])('a request id with %s in the bytes of its header is not logged', async (_what, header) => {
  const before = linesOf(app).length;
  const bytes = postBytes(JSON.stringify(PLAIN), 'connection: close', header);
  expect(await sendBytes(app.url, bytes)).toMatch(/^HTTP\/1\.1 (200|400) /);
  for (const line of linesOf(app).slice(before)) expect(line['requestId']).toMatch(UUID);
  expect(app.logged()).not.toContain(MAIL);
});

const NAMES = [MAIL, 'a'.repeat(65), 'a"b', '+49 30 901820', 'shop\tweb'];
test.each(NAMES)('a client name or version like %j is not logged', async (value) => {
  const line = await lineOf(PLAIN, { 'apollographql-client-name': value, 'apollographql-client-version': value });
  expect(line).toMatchObject({ operation: 'Ping' });
  for (const key of ['client', 'clientVersion']) expect(line).not.toHaveProperty(key);
});

// https://www.w3.org/TR/trace-context/#traceparent-header-field-values
const [TRACE, SPAN] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
test.each([
  ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`, undefined],
  ['no parent', `00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
  ['a version that is forbidden', `ff-${TRACE}-${SPAN}-01`, undefined],
  ['capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`, undefined],
  ['more than version 00 has', `00-${TRACE}-${SPAN}-01-more`, undefined],
  ['a second traceparent', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`, undefined],
  ['a later version and more fields', `cc-${TRACE}-${SPAN}-01-what-the-future-brings`, TRACE],
  ['the flag that it is not sampled', `00-${TRACE}-${SPAN}-00`, TRACE],
])('a traceparent with %s: %s sets the trace id %s', async (_what, traceparent, traceId) => {
  expect((await lineOf(PLAIN, { traceparent }))['traceId']).toBe(traceId);
});

test('the name of an operation is cut after 64 characters', async () => {
  const line = await lineOf({ query: `query ${LONG.slice(0, 256)} { __typename }` });
  expect(line['operation']).toBe('a'.repeat(64));
});

test('the line of an operation says whether its captcha may proceed; of two, whether both may', async () => {
  const two = await startSandboxed({ maxCaptchas: 2 });
  const solved = () => solveChallenge(two.sandboxUrls?.GLB ?? '');
  const query = `mutation ($one: ValidateCaptchaInput!, $two: ValidateCaptchaInput!) {
    one: validateCaptcha(input: $one) { proceed } two: validateCaptcha(input: $two) { proceed }
  }`;
  await send(two, { query: CAPTCHA_MUTATION, variables: { input: await solved() } });
  await send(two, { query, variables: { one: await solved(), two: await solved() } });
  await send(two, { query, variables: { one: CAPTCHA_INPUT, two: await solved() } });
  expect(operationsOf(two).map(({ proceed }) => proceed)).toEqual([true, true, false]);
});
