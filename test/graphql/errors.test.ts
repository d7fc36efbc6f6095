import { afterAll, afterEach, expect, test } from 'vitest';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ask, post } from '../support/requests.ts';
import { startCpuStopwatch } from '../support/stopwatch.ts';
import { CANARIES, expectCallersFault, expectNoCanary, nested, startRecorded } from './support.ts';

/**
 * Documents that are wrong, values that only a resolver can refuse, and mistakes that graphql-js finds only while it executes:
 * the answer never repeats what was sent, and none is a failure of this subgraph.
 */

const { app, upstream, stop } = await startRecorded();
afterAll(stop);
afterEach(() => {
  expect(upstream.received).toEqual([]);
  expectNoCanary(app.logged());
});

const fingerprint = (args: string, fields = '__typename') => `{ deviceFingerprint(${args}) { ${fields} } }`;
const signals = (args: string) => fingerprint('token: "x"', `... on DeviceFingerprint { signals(${args}) { name } }`);
const captcha = (input: string) => `mutation { validateCaptcha(input: ${input}) { proceed } }`;

test.each<[string, (literal: string) => string]>([
  ['a list for the token', (c) => fingerprint(`token: [${c}]`)],
  ['a text for metadata', (c) => fingerprint(`token: "x", metadata: ${c}`)],
  ['an unknown field of metadata', (c) => fingerprint(`token: "x", metadata: { nickname: ${c} }`)],
  ['a bad eventTime', (c) => fingerprint(`token: "x", eventTime: ${c}`)],
  ['an unknown argument', (c) => fingerprint(`token: "x", phone: ${c}`)],
  ['an input with too little in it', (c) => captcha(`{ passToken: ${c} }`)],
  [
    'a default of a wrong type',
    (c) =>
      `query ($n: Float = ${c}) { deviceFingerprint(token: "x") { ... on DeviceFingerprint { signals(minConfidence: $n) { name } } } }`,
  ],
  ['a condition that is none', (c) => `{ __typename @skip(if: ${c}) }`],
])('a literal of a wrong type is refused, and repeated nowhere: %s', async (_what, document) => {
  for (const canary of CANARIES) {
    for (const literal of [JSON.stringify(canary), `"""\n  ${canary}\n"""`]) {
      const answer = await ask(app.graphqlUrl, document(literal));
      expect([answer.status, answer.data]).toEqual([400, undefined]);
      for (const error of answer.errors ?? []) expect(error.message).toMatch(/\S/);
      expect(new Set(answer.errors?.map(({ extensions }) => extensions.code))).toEqual(
        new Set(['GRAPHQL_VALIDATION_FAILED']),
      );
      expectNoCanary(answer.text);
    }
  }
});

test.each([
  ['a number for the token', fingerprint('token: 13800138000'), 'token: expected String!.'],
  ['an unquoted token', fingerprint('token: tok_canary_9f8e7d'), 'token: expected String!.'],
  ['an unknown level', signals('minLevel: tok_canary_9f8e7d'), 'minLevel: expected a value of the enum SignalLevel.'],
  ['a number in metadata', fingerprint('token: "x", metadata: { ja3: 13800138000 }'), 'ja3: expected String.'],
  ['a bad time', fingerprint('token: "x", eventTime: 13800138000'), 'eventTime: expected DateTime, an RFC 3339'],
])('a literal is refused with a message that says where: %s', async (_what, document, says) => {
  const answer = await ask(app.graphqlUrl, document);
  expect(answer.status).toBe(400);
  expectCallersFault(answer, 'GRAPHQL_VALIDATION_FAILED');
  expect(answer.errors?.[0]?.message).toContain(says);
  expect(JSON.parse(answer.text).errors[0].locations).toEqual([
    { line: 1, column: document.search(/13800138000|tok_canary/) + 1 },
  ]);
});

test.each<[string, (canary: string) => string]>([
  ['a text that does not end', (c) => `{ deviceFingerprint(token: "${c}`],
  ['no quotes and no name', (c) => `{ deviceFingerprint(token: @${c}) { __typename } }`],
  ['the value alone', (c) => c],
])('a syntax error repeats nothing of what was sent: %s', async (_what, document) => {
  for (const canary of CANARIES) {
    const answer = await ask(app.graphqlUrl, document(canary));
    expect([answer.status, answer.data]).toEqual([400, undefined]);
    expectCallersFault(answer, 'GRAPHQL_PARSE_FAILED');
    expect(JSON.parse(answer.text).errors[0].locations).toEqual([
      { line: expect.any(Number), column: expect.any(Number) },
    ]);
  }
});

test.each([
  ['{ nothing }', 'Cannot query field "nothing" on type "Query".'],
  ['query ($t: Int!) { deviceFingerprint(token: $t) { __typename } }', 'type "Int!" used in position'],
  ['query ($t: Token!) { deviceFingerprint(token: $t) { __typename } }', 'Unknown type "Token"'],
  ['{ deviceFingerprint(token: "x") { ...Missing } }', 'Unknown fragment "Missing"'],
  ['fragment A on Query { __typename }', 'Fragment "A" is never used.'],
  ['subscription { anything }', 'The schema has no subscription.'],
])('a message about the structure of a document has names of the schema only: %s', async (query, says) => {
  const answer = await ask(app.graphqlUrl, query, { t: CANARIES[0] });
  expect(answer.status).toBe(400);
  expectCallersFault(answer, 'GRAPHQL_VALIDATION_FAILED');
  expect(answer.errors?.[0]?.message).toContain(says);
  expect(JSON.parse(answer.text).errors[0]).toHaveProperty('locations.0.line', 1);
});

test.each(CANARIES)('an unknown name of an operation is refused, and not repeated: %s', async (operationName) => {
  const answer = await post(app.graphqlUrl, JSON.stringify({ query: 'query A { __typename }', operationName }));
  expect([answer.status, answer.data]).toEqual([400, undefined]);
  expectCallersFault(answer, 'OPERATION_RESOLUTION_FAILURE');
});

const additional = (email: string) => ({ token: email, metadata: { additional: { email } } });
const changed = (changes: object) => ({ input: { ...CAPTCHA_INPUT, ...changes } });

test.each<[string, string, (canary: string) => Record<string, unknown>, string]>([
  ['publicKey', FINGERPRINT_QUERY, (c) => ({ token: c, publicKey: c }), 'add it to FINGERPRINT_APPLICATIONS'],
  ['a documented key in additional', FINGERPRINT_QUERY, additional, 'metadata.additional: expected'],
  ['captchaId', CAPTCHA_MUTATION, (captchaId) => changed({ captchaId }), 'add it to CAPTCHA_CONFIGURATIONS'],
])('a value that only a resolver can refuse leaves the rest whole: %s', async (_what, query, variables, says) => {
  for (const canary of CANARIES) {
    const answer = await ask(app.graphqlUrl, query, variables(canary));
    expect(answer.status).toBe(200);
    expect(Object.values(answer.data)).toEqual([null]);
    expectCallersFault(answer, 'BAD_USER_INPUT');
    expect(answer.errors?.[0]?.message).toContain(says);
  }
});

const chain = (count: number, next: readonly number[]) =>
  Array.from({ length: count }, (_, i) => {
    const spreads = next.map((step) => `...f${(i + step) % count}`).join(' ');
    return `fragment f${i} on DeviceFingerprint { requestId ${spreads} }`;
  }).join(' ');

// graphql-js compares them in pairs, each pair a level deeper. Some hundreds of them overflow its stack, which was a 500.
test.each([
  [51, [1, 2], 'The document has more than 50 fragments.'],
  [150, [1, 2], 'The document has more than 50 fragments.'],
  [50, [1], 'Cannot spread fragment "f0" within itself'],
  [50, [1, 7, 13], 'Cannot spread fragment "f0" within itself'],
])('%i fragments in cycles of steps %j are refused: %s', async (count, steps, says) => {
  const answer = await ask(app.graphqlUrl, `{ deviceFingerprint(token: "a") { ...f0 } } ${chain(count, steps)}`);
  expect(answer.status).toBe(400);
  const codes = new Set(answer.errors?.map(({ extensions }) => extensions.code));
  expect(codes).toEqual(new Set(['GRAPHQL_VALIDATION_FAILED']));
  expect(answer.errors?.[0]?.message).toContain(says);
  if (count > 50) expect(answer.errors).toHaveLength(1);
});

const lines = (end: string, count: number) => `${end.repeat(count - 1)}{ __typename }`;
const ofBytes = (mark: string, bytes: number) =>
  '{ __typename }#'.padEnd((bytes - 15) / Buffer.byteLength(mark) + 15, mark);

test.each([
  ['2,000 lines that end with LF', 200, lines('\n', 2_000)],
  ['2,001 lines that end with LF', 400, lines('\n', 2_001)],
  ['2,001 lines that end with CR', 400, lines('\r', 2_001)],
  ['2,000 lines that end with both', 200, lines('\r\n', 2_000)],
  ['2,001 lines that end with both', 400, lines('\r\n', 2_001)],
  ['64 KiB', 200, ofBytes('x', 65_536)],
  ['64 KiB and a byte', 400, ofBytes('x', 65_537)],
  ['64 KiB and a byte in longer characters', 400, ofBytes('é', 65_537)],
])('a document of %s: status %i', async (_what, status, document) => {
  const answer = await ask(app.graphqlUrl, document);
  expect(answer.status).toBe(status);
  if (status === 400) expectCallersFault(answer, 'GRAPHQL_PARSE_FAILED');
});

// graphql-js counts the lines before each error: 7,470 ms for the first of these.
test.each([240_000, 1_999])('a document with %i empty lines and 1,000 errors costs little', async (count) => {
  const document = `${'\n'.repeat(count)}query ($r: [_Any!]!) { _entities(representations: $r) { __typename } }`;
  const cpuMs = startCpuStopwatch();
  const { errors } = await ask(app.graphqlUrl, document, { r: Array(1_000).fill({ __typename: 'Nothing' }) });
  const cost = cpuMs();
  expect(errors).toHaveLength(count === 1_999 ? 1_000 : 1);
  // This process is the client as well, and runs code that V8 has not optimised yet.
  expect(cost).toBeLessThan(2 * 250);
});

const [phone, email, token] = CANARIES;
const deep = (beside: string, inside: string) =>
  `query ($inner: JSONObject) ${fingerprint(`token: "${token}", metadata: { ${beside} additional: { a: $inner ${inside} } }`)}`;

test.each<[string, string, Record<string, unknown>]>([
  [
    'null for a variable whose default makes it fit',
    `query ($token: String = "${token}") { deviceFingerprint(token: $token, eventType: "${email}") { __typename } }`,
    { token: null },
  ],
  [
    'null for a condition',
    `query ($on: Boolean = true) { deviceFingerprint(token: "${token}") @include(if: $on) { __typename } }`,
    { on: null },
  ],
  [
    'null in an input object',
    `mutation ($time: String = "1") {
      validateCaptcha(input: { lotNumber: "${token}", captchaOutput: "o", passToken: "p", genTime: $time }) { proceed }
    }`,
    { time: null },
  ],
  ['objects that nest too deep together', deep(`email: "${email}"`, ''), { inner: nested(32) }],
  [
    'the same beside a block text that looks like a stack frame',
    deep('', `note: """\nx\n    at ${phone}\n"""`),
    { inner: nested(32) },
  ],
])(
  "a mistake that is found only during the execution is the caller's fault, and not repeated: %s",
  async (_what, query, variables) => {
    const { errors, text } = await ask(app.graphqlUrl, query, variables);
    expect(errors).toMatchObject([{ extensions: { retryable: false } }]);
    expect(['BAD_USER_INPUT', 'GRAPHQL_VALIDATION_FAILED']).toContain(errors?.[0]?.extensions.code);
    expectNoCanary(text);
  },
);

test.each(['constructor', 'toString', 'hasOwnProperty'])(
  'a variable with the name of something that every object has, and that was not sent, is not there: $%s',
  async (name) => {
    const judge = (argument: string, type: string) =>
      ask(app.graphqlUrl, `query ($${name}: ${type}) { deviceFingerprint(${argument}) { __typename } }`);
    const required = await judge(`token: $${name}`, 'String!');
    expect(required.errors?.map(({ message }) => message)).toEqual([`$${name}: expected String!, but got nothing.`]);

    await judge(`token: "t", publicKey: $${name}`, 'ID');
    await judge(`token: "t", metadata: { additional: { a: { b: $${name} } } }`, 'Int');
    expect(upstream.received.splice(0).map(({ body }) => JSON.parse(body))).toEqual([
      { device_token: 't' },
      { device_token: 't', metadata: { a: {} } },
    ]);
  },
);
