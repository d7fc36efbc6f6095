import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ANDROID } from '../faults/documented.ts';
import { CAPTCHA_MUTATION, ENTITIES_QUERY, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { answer, reset } from '../support/hostile.ts';
import { startMistaken } from './mistaken.ts';
import { aboutTokens, alarmsOf, linesOf, operationsOf, send, startAgainst, startSandboxed } from './support.ts';

/** Lines at WARN and ERROR, which may wake somebody: who brings them about, and what they lead to. */

const times = <Item>(count: number, item: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => item(index));
const input = { lotNumber: 'unheard-of', captchaOutput: 'o', passToken: 'p', genTime: '1' };
const captchas = (count: number) =>
  `mutation ($input: ValidateCaptchaInput!) {
    ${times(count, (index) => `a${index}: validateCaptcha(input: $input) { proceed }`).join(' ')}
  }`;
/** Fragments, each of which leads to the next: 8 lexical tokens for each. */
const chain = (links: number) =>
  `{ ...F0 } ${times(links, (index) => `fragment F${index} on Query { ...F${index + 1} }`).join(' ')}
   fragment F${links} on Query { __typename }`;
const entities = (representations: readonly object[]) => ({ query: ENTITIES_QUERY, variables: { representations } });
const DEVICE = { __typename: 'DeviceFingerprint' };

describe('a caller brings none about', () => {
  test.each<[string, object]>([
    ['a syntax error', { query: '{ "' }],
    ['a document that is not valid', { query: '{ a { b { c } } }' }],
    ['fragments in a circle', { query: '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }' }],
    ['too deep a document', { query: `{ ${'...{'.repeat(400)}__typename${'}'.repeat(400)} }` }],
    ['too large a document', { query: chain(1_000) }],
    ['a deep value', { query: `{ deviceFingerprint(token: ${'['.repeat(900)}1${']'.repeat(900)}) { __typename } }` }],
    ['names of JavaScript', { query: '{ __proto__ constructor(toString: 1) @hasOwnProperty }' }],
    ['an operation that is not there', { query: 'query A { __typename }', operationName: 'constructor' }],
    ['an operation of a kind that is not there', { query: 'subscription { __typename }' }],
    ['variables that do not fit', { query: FINGERPRINT_QUERY, variables: { token: { a: [] } } }],
    [
      'null where only a default made it fit',
      { query: 'query ($t: String = "a") { deviceFingerprint(token: $t) { __typename } }', variables: { t: null } },
    ],
    ['a hash', { extensions: { persistedQuery: { version: 9, sha256Hash: 'x' } } }],
    ['a token that no SDK made', { query: aboutTokens(['made-up']) }],
    ['a public key that is unknown', { query: FINGERPRINT_QUERY, variables: { token: 'a', publicKey: 'b' } }],
    ['more tokens than a request may have', { query: aboutTokens(times(20, (index) => `sandbox:web#${index}`)) }],
    ['more captchas than a request may have', { query: captchas(20), variables: { input } }],
    ['a captcha that is made up', { query: captchas(1), variables: { input } }],
    ['a captcha without values', { query: captchas(1), variables: { input: { ...input, passToken: '' } } }],
    ['a captcha id that is unknown', { query: captchas(1), variables: { input: { ...input, captchaId: 'x' } } }],
    ['references of another type', entities([{ __typename: 'User' }, {}])],
    ['a reference without a token', entities([DEVICE])],
    ['a reference with a made-up token', entities([{ ...DEVICE, token: 'made-up' }])],
    ['more references than a request may have', entities(times(1_001, () => DEVICE))],
  ])('with %s', async (_what, body) => {
    const app = await startSandboxed({ maxUpstreamCalls: 10 });
    await send(app, body);
    expect(operationsOf(app)).toHaveLength(1);
    expect(alarmsOf(app)).toEqual([]);
  });

  test.each([
    ['fragments behind one another', chain],
    ['fields within one another', (levels: number) => `{ ${'a{'.repeat(levels)}b${'}'.repeat(levels)} }`],
    ['fragments within one another', (levels: number) => `{ ${'...{'.repeat(levels)}a${'}'.repeat(levels)} }`],
    ['lists within one another', (levels: number) => `{ a(b: ${'['.repeat(levels)}1${']'.repeat(levels)}) }`],
    ['types within one another', (levels: number) => `query ($a: ${'['.repeat(levels)}Int${']'.repeat(levels)}) { a }`],
  ])('with as many %s as the largest MAX_TOKENS lets pass', async (_what, documentOf) => {
    const limits = { maxTokens: 5_000, maxBodyBytes: 10_000_000, maxDepth: 100 };
    for (const tokensEach of [8, 6, 4, 3, 2]) {
      const app = await startSandboxed(limits);
      const { status } = await send(app, { query: documentOf(Math.floor(5_000 / tokensEach) - 10) });
      expect(status).toBe(400);
      expect(alarmsOf(app)).toEqual([]);
    }
  });

  test.each<[string, RequestInit]>([
    ['no JSON', { body: '{' }],
    ['a list', { body: '[]' }],
    [
      'JSON of 50,000 levels',
      { body: `{"query":"{ a }","variables":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}` },
    ],
    ['a batch', { body: '[{"query":"{ __typename }"},{"query":"{ __typename }"}]' }],
    ['a query that is no text', { body: '{"query":{"kind":"Document"}}' }],
    ['too many bytes', { body: ' '.repeat(200_000) }],
    ['another content type', { body: '{}', headers: { 'content-type': 'text/plain' } }],
    ['a content type that nobody has', { body: '{"query":"{ __typename }"}', headers: { accept: 'image/png' } }],
    ['an Accept header of nonsense', { body: '{"query":"{ __typename }"}', headers: { accept: ';;q=x,,*' } }],
    ['another method', { method: 'DELETE' }],
    ['no secret', { body: '{}', headers: { 'router-authorization': 'x' } }],
  ])('with %s', async (_what, init) => {
    const secret = 'the-secret-of-the-router';
    const app = await startSandboxed({ routerSecrets: [secret] });
    const headers = { 'content-type': 'application/json', 'router-authorization': secret, ...init.headers };
    expect((await fetch(app.graphqlUrl, { method: 'POST', ...init, headers })).status).toBeGreaterThanOrEqual(400);
    expect(alarmsOf(app)).toEqual([]);
  });

  test('by hanging up in the middle of a request', async () => {
    const app = await startSandboxed();
    const head = 'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';
    for (const rest of ['content-length: 99\r\n\r\n{"q', 'transfer-encoding: chunked\r\n\r\n3\r\n{"q\r\n', 'a: b']) {
      for (const leave of ['end', 'destroy', 'resetAndDestroy'] as const) {
        const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
        socket.write(head + rest, () => setTimeout(() => socket[leave](), 20));
        await new Promise((resolve) => socket.resume().once('close', resolve));
      }
    }
    expect((await fetch(`${app.url}/healthz`)).status).toBe(200);
    expect(linesOf(app)).toMatchObject([{ msg: 'ready' }]);
  });
});

describe('what does bring one about', () => {
  const ID = { 'x-request-id': 'the-request' };

  test.each<[string, Parameters<typeof answer>, object]>([
    [
      'an application that is refused',
      [401, '{"code":401}'],
      { code: 'UPSTREAM_REJECTED', field: 'deviceFingerprint' },
    ],
    ['an answer that is not as documented', [200, '{}'], { code: 'UPSTREAM_PROTOCOL_ERROR' }],
    ['an upstream that fails', [503, ''], { code: 'UPSTREAM_UNAVAILABLE', internal: 'HTTP status 503' }],
  ])('%s, with the id of the operation', async (_what, says, expected) => {
    const { app } = await startAgainst(answer(...says));
    await send(app, { query: aboutTokens(['a']) }, ID);
    expect(alarmsOf(app)).toMatchObject([{ level: 'warn', requestId: 'the-request', ...expected }]);
    expect(operationsOf(app)).toMatchObject([{ requestId: 'the-request' }]);
  });

  test.each<[string, Parameters<typeof startAgainst>[0]]>([
    ['no verdict', answer(500, '')],
    ['no answer', reset],
    ['a signature that is refused', answer(200, '{"result":"fail","reason":"illegal sign_token"}')],
    ['a verdict on another challenge', answer(200, '{"result":"fail","captcha_args":{"lot_number":"of-another"}}')],
  ])('a captcha service that gives %s, with the id of the operation', async (_what, behave) => {
    const { app } = await startAgainst(behave);
    await send(app, { query: CAPTCHA_MUTATION, variables: { input } }, ID);
    expect(alarmsOf(app)).toMatchObject([{ level: 'warn', requestId: 'the-request', captchaId: 'a'.repeat(32) }]);
  });

  test('a line stays short, whatever an upstream sends', async () => {
    const signals = times(20_000, () => ({}));
    const { app } = await startAgainst(answer(200, JSON.stringify({ ...ANDROID, data: { ...ANDROID.data, signals } })));
    await send(app, { query: aboutTokens(['a']) });
    const [line] = alarmsOf(app);
    expect(line?.['internal']).toMatch(/^data\.signals\.0\.signal: invalid_type; .*; and 59995 more$/);
    expect(JSON.stringify(line).length).toBeLessThan(1_000);
  });

  test('one cause brings one about for each operation, however many fields it takes along', async () => {
    const { app } = await startAgainst(answer(503, ''));
    await send(app, { query: aboutTokens(times(15, String)) }, ID);
    await send(app, { query: aboutTokens(['1']) });
    expect(alarmsOf(app)).toMatchObject([{ requestId: 'the-request' }, { code: 'UPSTREAM_UNAVAILABLE' }]);
  });

  test('a limit of all requests together, once it is reached', async () => {
    const { app } = await startAgainst(answer(503, ''), { upstreamMaxInFlight: 1, upstreamMaxQueue: 0 });
    await send(app, { query: aboutTokens(['1', '2', '3']) });
    const codes = alarmsOf(app).map(({ code }) => code);
    expect(codes.sort()).toEqual(['OVERLOADED', 'UPSTREAM_UNAVAILABLE']);
  });

  test('a mistake of ours, with the place and not a word of the request', async () => {
    const app = await startMistaken();
    onTestFinished(app.stop);
    const { status, text } = await send(app, { query: '{ mistake(token: "canary") }' }, ID);
    expect([status, text]).toEqual([200, expect.stringContaining('INTERNAL_SERVER_ERROR')]);
    expect(alarmsOf(app)).toEqual([
      {
        level: 'error',
        time: expect.any(String),
        requestId: 'the-request',
        code: 'INTERNAL_SERVER_ERROR',
        field: 'mistake',
        error: { name: 'TypeError', frames: expect.arrayContaining([expect.stringContaining('mistaken')]) },
        msg: expect.stringMatching(/inside this subgraph/),
      },
    ]);
    expect(operationsOf(app)).toMatchObject([{ requestId: 'the-request', errors: ['INTERNAL_SERVER_ERROR'] }]);
    expect(app.logged() + text).not.toContain('canary');
  });
});
