import { afterAll, describe, expect, test } from 'vitest';
import { startInLiveMode } from '../support/app.ts';
import { CAPTCHA_MUTATION, ENTITIES_QUERY } from '../support/graphql.ts';
import { ask, type GraphqlAnswer, json, post, request } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** How much one request may ask: each limit of the configuration at its edge, and one beyond it. */

const LIMITS = {
  maxBodyBytes: 2_000,
  maxTokens: 60,
  maxDepth: 5,
  maxAliases: 4,
  maxDirectives: 3,
  maxRepresentations: 6,
  maxUpstreamCalls: 4,
  maxCaptchas: 2,
};

const NO = { status: 'success', result: 'fail', reason: 'pass_token expire', captcha_args: {} };
const upstream = await startUpstream(({ url }, response) =>
  url.startsWith('/validate')
    ? sendJson(response, 200, NO)
    : sendJson(response, 400, { code: 400, message: 'Invalid request', data: {} }),
);
const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
const small = await startInLiveMode(urls, LIMITS);
const usual = await startInLiveMode(urls);
afterAll(async () => {
  await Promise.all([small.stop(), usual.stop()]);
  await upstream.stop();
});

const times = (count: number, piece: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => piece(i)).join(' ');
const judge = (index: number, fields = '__typename') => `deviceFingerprint(token: "t${index}") { ${fields} }`;
const INPUT = { lotNumber: 'lot', captchaOutput: 'output', passToken: 'pass', genTime: '1' };
const captchas = (count: number) =>
  `mutation ($input: ValidateCaptchaInput!) { ${times(count, (i) => `a${i}: validateCaptcha(input: $input) { proceed }`)} }`;
const references = (count: number, tokenOf = (index: number) => `t${index}`) => ({
  representations: Array.from({ length: count }, (_, i) => ({ __typename: 'DeviceFingerprint', token: tokenOf(i) })),
});

/** Within the limit of tokens. */
const ENTITIES_SHORT =
  'query ($representations: [_Any!]!) { _entities(representations: $representations) { __typename } }';

/** The codes of all errors, each once. */
const codesOf = ({ errors }: GraphqlAnswer) => [...new Set(errors?.map(({ extensions }) => extensions.code))];

describe('a request beyond a limit is refused as a whole, before any call', () => {
  test.each<[string, string, string, string, RegExp]>([
    [
      'tokens',
      `{ ${times(58, () => '__typename')} }`,
      `{ ${times(59, () => '__typename')} }`,
      'GRAPHQL_PARSE_FAILED',
      /larger than this subgraph accepts/,
    ],
    [
      'levels',
      `{ ${judge(0, '... on DeviceFingerprint { deviceBasic { ... on Mobile { model } } }')} }`,
      `{ ${judge(0, '... on DeviceFingerprint { deviceBasic { ... on Mobile { os { name } } } }')} }`,
      'GRAPHQL_VALIDATION_FAILED',
      /more than 5 levels deep/,
    ],
    [
      // A named fragment counts as two.
      'levels in fragments',
      `{ ${judge(0, '...A')} } fragment A on DeviceFingerprint { deviceBasic { __typename } }`,
      `{ ${judge(0, '...A')} } fragment A on DeviceFingerprint { deviceBasic { ... on Mobile { model } } }`,
      'GRAPHQL_VALIDATION_FAILED',
      /more than 5 levels deep/,
    ],
    [
      'aliases',
      `{ ${times(4, (i) => `a${i}: signalCatalogue { code }`)} }`,
      `{ ${times(5, (i) => `a${i}: signalCatalogue { code }`)} }`,
      'GRAPHQL_VALIDATION_FAILED',
      /more than 4 aliases/,
    ],
    [
      'aliases in a fragment that is used twice',
      '{ a: signalCatalogue { ...F } b: signalCatalogue { ...F } } fragment F on SignalDefinition { c: code }',
      '{ a: signalCatalogue { ...F } b: signalCatalogue { ...F d: level } } fragment F on SignalDefinition { c: code }',
      'GRAPHQL_VALIDATION_FAILED',
      /more than 4 aliases/,
    ],
    [
      'directives',
      '{ signalCatalogue @skip(if: false) { code @skip(if: false) level @include(if: true) } }',
      '{ signalCatalogue @skip(if: false) { code @skip(if: false) level @include(if: true) effect @include(if: true) } }',
      'GRAPHQL_VALIDATION_FAILED',
      /more than 3 directives/,
    ],
  ])('%s', async (_what, edge, beyond, code, message) => {
    expect(await ask(small.graphqlUrl, edge)).toMatchObject({ status: 200, errors: undefined });
    upstream.received.length = 0;
    const answered = await ask(small.graphqlUrl, beyond);
    expect(answered).toMatchObject({ status: 400, data: undefined });
    expect(codesOf(answered)).toEqual([code]);
    expect(answered.errors?.[0]?.message).toMatch(message);
    expect(upstream.received).toEqual([]);
  });

  test('body', async () => {
    const body = JSON.stringify({ query: `{ ${judge(0)} }` });
    expect(await post(small.graphqlUrl, body.padEnd(2_000))).toMatchObject({ status: 200, errors: undefined });
    upstream.received.length = 0;
    const answered = await post(small.graphqlUrl, body.padEnd(2_001));
    expect(answered.status).toBe(413);
    expect(codesOf(answered)).toEqual(['BAD_REQUEST']);
    expect(upstream.received).toEqual([]);
  });

  test('entity references', async () => {
    const edge = await ask(
      small.graphqlUrl,
      ENTITIES_SHORT,
      references(6, () => 'same'),
    );
    expect(codesOf(edge)).toEqual(['DEVICE_TOKEN_REJECTED']);
    upstream.received.length = 0;
    const beyond = await ask(
      small.graphqlUrl,
      ENTITIES_SHORT,
      references(7, () => 'same'),
    );
    expect(codesOf(beyond)).toEqual(['BAD_USER_INPUT']);
    expect(beyond.errors?.[0]?.message).toContain('at most 6');
    expect(beyond.errors).toHaveLength(1);
    expect(upstream.received).toEqual([]);
  });
});

describe('what one request asks of an upstream beyond a limit fails alone', () => {
  test.each([
    ['a small limit', small, 4],
    ['the default', usual, 100],
  ])('fingerprint calls, %s', async (_which, { graphqlUrl }, limit) => {
    upstream.received.length = 0;
    const { errors } = await ask(graphqlUrl, ENTITIES_SHORT, references(limit + 1));
    const codes = errors?.map(({ extensions }) => extensions.code);
    expect(codes?.filter((code) => code === 'OVERLOADED')).toHaveLength(1);
    expect(errors?.find(({ extensions }) => extensions.code === 'OVERLOADED')?.path).toEqual(['_entities', limit]);
    expect(codes?.filter((code) => code === 'DEVICE_TOKEN_REJECTED')).toHaveLength(limit);
    expect(upstream.received).toHaveLength(limit);
  });

  test('the same token counts once', async () => {
    upstream.received.length = 0;
    const answered = await ask(
      small.graphqlUrl,
      ENTITIES_SHORT,
      references(6, (i) => `t${i % 4}`),
    );
    expect(codesOf(answered)).toEqual(['DEVICE_TOKEN_REJECTED']);
    expect(upstream.received).toHaveLength(4);
  });

  test.each([
    ['a small limit', small, 2],
    ['the default', usual, 1],
  ])('captchas, %s', async (_which, { graphqlUrl }, limit) => {
    upstream.received.length = 0;
    const { data, errors } = await ask(graphqlUrl, captchas(limit + 1), { input: INPUT });
    const outcomes = Object.values(data);
    expect(outcomes).toEqual([...Array(limit).fill({ proceed: false }), null]);
    expect(errors).toMatchObject([{ path: [`a${limit}`], extensions: { code: 'OVERLOADED', retryable: false } }]);
    expect(upstream.received).toHaveLength(limit);
  });
});

describe('what is not offered at all', () => {
  const QUERY = '{"query":"{ __typename }"}';

  test('several operations in one request', async () => {
    for (const body of [`[${QUERY}]`, `[${QUERY},${QUERY}]`])
      expect((await request(usual.graphqlUrl, json(body))).status).toBe(400);
  });

  test('an operation in a URL', async () => {
    expect((await request(`${usual.graphqlUrl}?query=%7B__typename%7D`)).status).toBe(405);
  });

  test.each(['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'])(
    'what a page of another site can send without being asked about it: %s',
    async (type) => {
      expect((await request(usual.graphqlUrl, json(QUERY, { 'content-type': type }))).status).toBe(415);
    },
  );

  test.each([
    ['a name that is almost right', 'query { signalCatalog { code } }', {}],
    ['a syntax error', '{ signalCatalogue { code }', {}],
    ['a variable of a wrong type', CAPTCHA_MUTATION, { input: 1 }],
    ['a reference that is none', ENTITIES_QUERY, { representations: [{ __typename: 'Nothing' }] }],
    ['an upstream that refuses', ENTITIES_QUERY, references(1)],
  ])('help for %s: no suggestion, no stack', async (_what, query, variables) => {
    const { text, errors } = await ask(usual.graphqlUrl, query, variables);
    expect(errors).toHaveLength(1);
    expect(text).not.toMatch(/did you mean|stack|node_modules|\.[jt]s:\d/i);
  });
});
