import { once } from 'node:events';
import { connect } from 'node:net';
import { gql } from 'graphql-tag';
import { afterAll, expect, test } from 'vitest';
import { buildSchema } from '../../src/graphql/schema.ts';
import { ANDROID } from '../faults/documented.ts';
import { startInLiveMode, startInSandboxMode, type TestApp } from '../support/app.ts';
import {
  CAPTCHA_INPUT,
  CAPTCHA_MUTATION,
  captchasMutation,
  ENTITIES_QUERY,
  FINGERPRINT_QUERY,
  queryForTokens,
} from '../support/graphql.ts';
import { answer } from '../support/hostile.ts';
import { startServer } from '../support/server.ts';
import { pieces, times } from '../support/times.ts';
import { untilEnd } from '../support/until-end.ts';
import { linesOf, operationsOf, send, startAgainst, startSandboxed, warningsOf } from './support.ts';

/** Lines at WARN and ERROR, at which an operator may be called: a caller must not be able to cause them. */

/** Fragments, each of which spreads the next one: 8 lexical tokens for each. */
const chain = (links: number) =>
  `{ ...F0 } ${pieces(links, (at) => `fragment F${at} on Query { ...F${at + 1} }`)}
   fragment F${links} on Query { __typename }`;
const entities = (representations: readonly object[]) => ({ query: ENTITIES_QUERY, variables: { representations } });
const NULLABLE = 'query ($token: String = "a") { deviceFingerprint(token: $token) { __typename } }';
const DEVICE = { __typename: 'DeviceFingerprint' };

const SECRET = 'the-secret-of-the-router';
const AS_ROUTER = { 'router-authorization': SECRET };
const sandboxed = await startInSandboxMode({ maxUpstreamCalls: 10, routerSecrets: [SECRET] });
afterAll(() => sandboxed.stop());

/** The lines that are written meanwhile. */
async function linesDuring(app: TestApp, act: () => Promise<unknown>) {
  const before = app.logged().length;
  await act();
  const logged = () => app.logged().slice(before);
  return { operations: operationsOf({ logged }), warnings: warningsOf({ logged }) };
}

test.each<[string, object]>([
  ['a syntax error', { query: '{ "' }],
  ['a document that is not valid', { query: '{ a { b { c } } }' }],
  ['a fragment that spreads itself', { query: '{ ...A } fragment A on Query { ...A }' }],
  ['names that JavaScript objects have', { query: '{ __proto__ constructor(toString: 1) @hasOwnProperty }' }],
  ['an operation name that is not there', { query: 'query A { __typename }', operationName: 'constructor' }],
  ['a subscription', { query: 'subscription { __typename }' }],
  ['variables of the wrong type', { query: FINGERPRINT_QUERY, variables: { token: { a: [] } } }],
  ['null for a variable with a default', { query: NULLABLE, variables: { token: null } }],
  ['the hash of a persisted query', { extensions: { persistedQuery: { version: 9, sha256Hash: 'x' } } }],
  ['a made-up token', { query: queryForTokens(['made-up']) }],
  ['an unknown public key', { query: FINGERPRINT_QUERY, variables: { token: 'a', publicKey: 'b' } }],
  ['more tokens than a request may have', { query: queryForTokens(times(20, (index) => `sandbox:web#${index}`)) }],
  ['more captchas than a request may have', { query: captchasMutation(20), variables: { input: CAPTCHA_INPUT } }],
  ['a made-up captcha', { query: captchasMutation(1), variables: { input: CAPTCHA_INPUT } }],
  ['references of another type', entities([{ __typename: 'User' }, {}])],
  ['a reference with a made-up token', entities([{ ...DEVICE, token: 'made-up' }])],
  ['more references than a request may have', entities(times(1_001, () => DEVICE))],
])('a caller causes no warning by sending %s', async (_what, body) => {
  const { operations, warnings } = await linesDuring(sandboxed, () => send(sandboxed, body, AS_ROUTER));
  expect([operations.length, warnings]).toEqual([1, []]);
});

test.each([
  ['fragments that spread one another', chain],
  ['nested fields', (levels: number) => `{ ${'a{'.repeat(levels)}b${'}'.repeat(levels)} }`],
  ['nested inline fragments', (levels: number) => `{ ${'...{'.repeat(levels)}a${'}'.repeat(levels)} }`],
  ['nested list values', (levels: number) => `{ a(b: ${'['.repeat(levels)}1${']'.repeat(levels)}) }`],
  ['nested list types', (levels: number) => `query ($a: ${'['.repeat(levels)}Int${']'.repeat(levels)}) { a }`],
])('a caller causes no warning by sending as many %s as a document may have', async (_what, documentOf) => {
  for (const tokensEach of [8, 4, 2]) {
    const query = documentOf(Math.floor(2_000 / tokensEach) - 10);
    const { warnings } = await linesDuring(sandboxed, async () =>
      expect((await send(sandboxed, { query }, AS_ROUTER)).status).toBe(400),
    );
    expect(warnings).toEqual([]);
  }
});

test('a caller causes no warning by disconnecting in the middle of a request', async () => {
  const app = await startSandboxed();
  const head = 'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
  const rests = ['content-length: 99\r\n\r\n{"q', 'transfer-encoding: chunked\r\n\r\n3\r\n{"q\r\n', 'a: b'];
  const ways = ['end', 'destroy', 'resetAndDestroy'] as const;
  await Promise.all(
    rests.flatMap((rest) =>
      ways.map((close) => {
        const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
        socket.write(head + rest, () => setTimeout(() => socket[close](), 20));
        return once(socket.resume(), 'close');
      }),
    ),
  );
  expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
  expect(linesOf(app)).toMatchObject([{ msg: 'ready' }]);
});

const ID = { 'x-request-id': 'the-request' };

test.each<[string, Parameters<typeof answer>, object]>([
  ['a refused application', [401, '{"code":401}'], { code: 'UPSTREAM_REJECTED', field: 'deviceFingerprint' }],
  ['a response that is not as documented', [200, '{}'], { code: 'UPSTREAM_PROTOCOL_ERROR' }],
  ['an upstream that fails', [503, ''], { code: 'UPSTREAM_UNAVAILABLE', internal: 'HTTP status 503' }],
])('a warning is logged for %s, with the request id of the operation', async (_what, response, expected) => {
  const { app } = await startAgainst(answer(...response));
  await send(app, { query: queryForTokens(['a']) }, ID);
  expect(warningsOf(app)).toMatchObject([{ level: 'warn', requestId: 'the-request', ...expected }]);
  expect(operationsOf(app)).toMatchObject([{ requestId: 'the-request' }]);
});

test.each<[string, Parameters<typeof startAgainst>[0]]>([
  ['no verdict', answer(500, '')],
  ['a verdict for another challenge', answer(200, '{"result":"fail","captcha_args":{"lot_number":"of-another"}}')],
])(
  'a warning is logged for a captcha service that sends %s, with the request id of the operation',
  async (_what, behave) => {
    const { app } = await startAgainst(behave);
    await send(app, { query: CAPTCHA_MUTATION, variables: { input: CAPTCHA_INPUT } }, ID);
    expect(warningsOf(app)).toMatchObject([{ level: 'warn', requestId: 'the-request', account: 'a'.repeat(32) }]);
  },
);

test('a warning is logged with less than 1,000 characters, however much an upstream sends', async () => {
  const signals = times(20_000, () => ({}));
  const { app } = await startAgainst(answer(200, JSON.stringify({ ...ANDROID, data: { ...ANDROID.data, signals } })));
  await send(app, { query: queryForTokens(['a']) });
  const [line] = warningsOf(app);
  expect(line?.['internal']).toBe('data.signals: custom');
  expect(JSON.stringify(line).length).toBeLessThan(1_000);
});

test('a warning is logged once for each operation, however many of its fields fail for the same reason', async () => {
  const { app } = await startAgainst(answer(503, ''));
  await send(app, { query: queryForTokens(times(15, String)) }, ID);
  await send(app, { query: queryForTokens(['1']) });
  expect(warningsOf(app)).toMatchObject([{ requestId: 'the-request' }, { code: 'UPSTREAM_UNAVAILABLE' }]);
});

test('a warning is logged when the queue for all requests is full', async () => {
  const { app } = await startAgainst(answer(503, ''), { upstreamMaxInFlight: 1 });
  await send(app, { query: queryForTokens(['1', '2', '3']) });
  const codes = warningsOf(app).map(({ code }) => code);
  expect(codes.sort()).toEqual(['OVERLOADED', 'UPSTREAM_UNAVAILABLE']);
});

test('a warning is logged once for a host name that cannot be looked up', async () => {
  // No host has a name under `.invalid` (RFC 6761, section 6.4).
  const app = await untilEnd(startInLiveMode('http://upstream.invalid', { upstreamCheck: 'off' }));
  for (const token of ['1', '2']) await send(app, { query: queryForTokens([token]) });
  const lookups = warningsOf(app).filter(({ internal }) => /^look-up \w+ of upstream\.invalid$/.test(`${internal}`));
  expect(lookups).toMatchObject([{ level: 'warn', msg: expect.stringMatching(/^A host name cannot be looked up/) }]);
});

test('a warning is logged for a bug in this subgraph, with its stack frames and nothing of the request', async () => {
  const typeDefs = gql('type Query { mistake(token: String): String } type Thing @key(fields: "id") { id: ID! }');
  const throwIt = (_root: unknown, { token }: { token: string }) => {
    throw new TypeError(`a mistake with ${token}`);
  };
  const app = await untilEnd(startServer(buildSchema([{ typeDefs, resolvers: { Query: { mistake: throwIt } } }])));
  const { status, text } = await send(app, { query: '{ mistake(token: "canary") }' }, ID);
  expect([status, text]).toEqual([200, expect.stringContaining('INTERNAL_SERVER_ERROR')]);
  expect(warningsOf(app)).toEqual([
    {
      level: 'error',
      time: expect.any(String),
      requestId: 'the-request',
      code: 'INTERNAL_SERVER_ERROR',
      field: 'mistake',
      error: { name: 'TypeError', frames: expect.arrayContaining([expect.stringContaining('logger.warnings')]) },
      msg: expect.stringMatching(/inside this subgraph/),
    },
  ]);
  expect(operationsOf(app)).toMatchObject([{ requestId: 'the-request', errors: ['INTERNAL_SERVER_ERROR'] }]);
  expect(app.logged() + text).not.toContain('canary');
});
