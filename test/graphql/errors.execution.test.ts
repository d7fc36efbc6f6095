import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ask } from '../support/requests.ts';
import { CANARIES, expectNoCanary, startRecorded } from './support.ts';

/**
 * Mistakes of a caller that graphql-js finds only while it executes: the operation is valid, its variables are valid, and
 * together they are not. None is a failure of this subgraph, and its words, which quote literals, stay inside.
 */

const { app, upstream, stop } = await startRecorded();
afterAll(stop);
beforeEach(() => {
  upstream.received.length = 0;
});

const nested = (levels: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
};
const [phone, email, token] = CANARIES;

describe.each<[string, string, Record<string, unknown>]>([
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
  [
    'objects that nest too deep together',
    `query ($inner: JSONObject) {
      deviceFingerprint(token: "${token}", metadata: { email: "${email}", additional: { a: $inner } }) { __typename }
    }`,
    { inner: nested(32) },
  ],
  [
    'the same beside a block text that looks like a stack frame',
    `query ($inner: JSONObject) {
      deviceFingerprint(token: "x", metadata: { additional: { a: $inner, note: """
      first line
          at ${phone}
      """ } }) { __typename }
    }`,
    { inner: nested(32) },
  ],
])('%s', (_what, query, variables) => {
  test("is the caller's fault", async () => {
    const { errors } = await ask(app.graphqlUrl, query, variables);
    expect(errors).toMatchObject([{ extensions: { retryable: false } }]);
    expect(['BAD_USER_INPUT', 'GRAPHQL_VALIDATION_FAILED']).toContain(errors?.[0]?.extensions.code);
    expect(upstream.received).toEqual([]);
  });

  test('is repeated neither to the caller nor in the log', async () => {
    const { text } = await ask(app.graphqlUrl, query, variables);
    expectNoCanary(text);
    expectNoCanary(app.logged());
  });
});

describe('variables with the name of something that every object has', () => {
  test.each(['constructor', 'toString', 'hasOwnProperty'])('$%s that was not sent is not there', async (name) => {
    const judge = (argument: string, type: string) =>
      ask(app.graphqlUrl, `query ($${name}: ${type}) { deviceFingerprint(${argument}) { __typename } }`);
    const required = await judge(`token: $${name}`, 'String!');
    expect(required.errors?.map(({ message }) => message)).toEqual([`$${name}: expected String!, but got nothing.`]);

    upstream.received.length = 0;
    await judge(`token: "t", publicKey: $${name}`, 'ID');
    await judge(`token: "t", metadata: { additional: { a: { b: $${name} } } }`, 'Int');
    expect(upstream.received.map(({ body }) => JSON.parse(body))).toEqual([
      { device_token: 't' },
      { device_token: 't', metadata: { a: { b: null } } },
    ]);
  });
});
