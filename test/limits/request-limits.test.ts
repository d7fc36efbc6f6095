import { setImmediate } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { HEALTHY, healthOf } from '../server/support.ts';
import { startInLiveMode } from '../support/app.ts';
import { CAPTCHA_INPUT, captchasMutation, referencesTo } from '../support/graphql.ts';
import { ask, type GraphqlAnswer, json, post, request } from '../support/requests.ts';
import { pieces, times } from '../support/times.ts';
import { untilEnd } from '../support/until-end.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** How much one request may ask, each limit of the configuration at its edge and one beyond it; and how much all may. */

const LIMITS = { maxRepresentations: 6, maxUpstreamCalls: 4, maxCaptchas: 2 };

const NO = { status: 'success', result: 'fail', reason: 'pass_token expire', captcha_args: {} };
const upstream = await startUpstream(({ url }, response) =>
  url.startsWith('/validate')
    ? sendJson(response, 200, NO)
    : sendJson(response, 400, { code: 400, message: 'Invalid request', data: {} }),
);
const small = await startInLiveMode(upstream.url, LIMITS);
const usual = await startInLiveMode(upstream.url);
afterAll(() => Promise.all([small.stop(), usual.stop(), upstream.stop()]));

const ENTITIES_SHORT =
  'query ($representations: [_Any!]!) { _entities(representations: $representations) { __typename } }';

/** The codes of all errors, each once. */
const codesOf = ({ errors }: GraphqlAnswer) => [...new Set(errors?.map(({ extensions }) => extensions.code))];

const listOf = (count: number) =>
  `{ deviceFingerprint(token: "t", metadata: { additional: { a: [${pieces(count, String)}] } }) { __typename } }`;
const N = 'n'.repeat(255);
const LONG = /a name of more than 256 characters/;

test.each<[string, string, string, RegExp]>([
  ['tokens', listOf(1_977), listOf(1_978), /larger than this subgraph/],
  ['an alias', `{ ${N}1: __typename }`, `{ ${N}12: __typename }`, LONG],
  ['an operation', `query ${N}1 { __typename }`, `query ${N}12 { __typename }`, LONG],
  ['a fragment', `{ ...${N}1 } fragment ${N}1 on Query { __typename }`, `{ ...${N}12 }`, LONG],
  [
    'a variable, though texts may be as long as it',
    `query ($${N}1: String! = "${N}${N}") { deviceFingerprint(token: $${N}1) { __typename } }`,
    `query ($${N}12: String!) { deviceFingerprint(token: $${N}12) { __typename } }`,
    LONG,
  ],
  [
    'an alias behind comments',
    `{ ${'x: __typename '.repeat(200)} }`,
    `{ ${pieces(201, (at) => `x#${at}\n: f${at}`)} }`,
    /more than 200 times/,
  ],
  [
    'a name of which one is an alias',
    `{ ${'__typename: __typename '.repeat(100)} ${'__typename '.repeat(100)} }`,
    `{ f: g ${'f '.repeat(200)} }`,
    /more than 200 times/,
  ],
  [
    'a name of which one has arguments',
    `{ ${'__typename '.repeat(500)} }`,
    `{ f(a: 1) ${'f '.repeat(200)} }`,
    /more than 200 times/,
  ],
  [
    'a name of which one has fields',
    `{ ${'_service { sdl } '.repeat(200)} }`,
    `{ ${'f { g } '.repeat(201)} }`,
    /more than 200 times/,
  ],
  ['a field', '{ __typename }', `{ ${N}12 }`, LONG],
  ['a name behind what is no document', '{ __typename }', `{ } " \n ${N}12`, /not valid GraphQL/],
])('a request beyond a limit of parsing is refused as a whole: %s', async (_what, edge, beyond, message) => {
  expect(await ask(usual.graphqlUrl, edge)).toMatchObject({ status: 200, errors: undefined });
  upstream.received.length = 0;
  const answered = await ask(usual.graphqlUrl, beyond);
  expect(answered).toMatchObject({ status: 400, data: undefined });
  expect(codesOf(answered)).toEqual(['GRAPHQL_PARSE_FAILED']);
  expect(answered.errors?.[0]?.message).toMatch(message);
  expect(upstream.received).toEqual([]);
});

test('a request with more entity references than allowed is refused', async () => {
  const same = (count: number) => referencesTo(Array(count).fill('same'));
  expect(codesOf(await ask(small.graphqlUrl, ENTITIES_SHORT, same(6)))).toEqual(['DEVICE_TOKEN_REJECTED']);
  upstream.received.length = 0;
  const { errors } = await ask(small.graphqlUrl, ENTITIES_SHORT, same(7));
  expect(errors).toMatchObject([
    { message: expect.stringContaining('at most 6'), extensions: { code: 'BAD_USER_INPUT' } },
  ]);
  expect(upstream.received).toEqual([]);
});

test.each([
  ['a small limit', small, 4],
  ['the default', usual, 100],
])('fingerprint calls of one request beyond the limit fail alone, %s', async (_which, { graphqlUrl }, limit) => {
  upstream.received.length = 0;
  const { errors } = await ask(graphqlUrl, ENTITIES_SHORT, referencesTo(times(limit + 1, String)));
  const codes = errors?.map(({ extensions }) => extensions.code);
  expect(codes?.filter((code) => code === 'OVERLOADED')).toHaveLength(1);
  expect(errors?.find(({ extensions }) => extensions.code === 'OVERLOADED')?.path).toEqual(['_entities', limit]);
  expect(codes?.filter((code) => code === 'DEVICE_TOKEN_REJECTED')).toHaveLength(limit);
  expect(upstream.received).toHaveLength(limit);
});

test('fingerprint calls of one request with the same token count once', async () => {
  upstream.received.length = 0;
  const four = referencesTo(times(6, (at) => `${at % 4}`));
  expect(codesOf(await ask(small.graphqlUrl, ENTITIES_SHORT, four))).toEqual(['DEVICE_TOKEN_REJECTED']);
  expect(upstream.received).toHaveLength(4);
});

test.each([
  ['a small limit', small, 2],
  ['the default', usual, 1],
])('captchas of one request beyond the limit fail alone, %s', async (_which, { graphqlUrl }, limit) => {
  upstream.received.length = 0;
  const { data, errors } = await ask(graphqlUrl, captchasMutation(limit + 1), { input: CAPTCHA_INPUT });
  expect(Object.values(data)).toEqual([...Array(limit).fill({ proceed: false }), null]);
  expect(errors).toMatchObject([{ path: [`a${limit}`], extensions: { code: 'OVERLOADED', retryable: false } }]);
  expect(upstream.received).toHaveLength(limit);
});

test('an event loop that is late: GraphQL gets a 503 at once and health checks go on; then all is well again', async () => {
  const app = await untilEnd(startInLiveMode(upstream.url, {}, 200));
  const BODY = '{"query":"{ signalCatalogue { code } }"}';
  const statusOf = async () => (await request(app.graphqlUrl, json(BODY))).status;
  await expect.poll(statusOf).toBe(200);
  const busy = { is: true };
  // This process is late in all it does, with nothing but a moment for everything else in between.
  const work = (async () => {
    while (busy.is) {
      for (const until = performance.now() + 300; performance.now() < until; );
      await setImmediate();
    }
  })();
  try {
    let refusal: GraphqlAnswer | undefined;
    const send = async () => {
      refusal = await post(app.graphqlUrl, BODY);
      return refusal.status;
    };
    await expect.poll(send, { interval: 1 }).toBe(503);
    const [retryAfter, cacheControl] = ['retry-after', 'cache-control'].map((name) => refusal?.headers.get(name));
    expect([retryAfter, cacheControl]).toEqual(['1', 'no-store']);
    const extensions = { code: 'OVERLOADED', retryable: true };
    expect(refusal?.errors).toEqual([{ message: expect.any(String), extensions }]);
    expect(await healthOf(app.url)).toEqual(HEALTHY);
  } finally {
    busy.is = false;
    await work;
  }
  await expect.poll(statusOf).toBe(200);
});
