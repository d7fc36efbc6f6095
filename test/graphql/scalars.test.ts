import { afterAll, beforeEach, expect, test } from 'vitest';
import { ask, post } from '../support/requests.ts';
import { nested, startRecorded } from './support.ts';

/** `DateTime` and `JSONObject`, as variables and as literals, by what reaches the upstream. */

const { app, upstream, stop } = await startRecorded();
afterAll(stop);
beforeEach(() => {
  upstream.received.length = 0;
});

const TIME_QUERY = 'query ($time: DateTime) { deviceFingerprint(token: "x", eventTime: $time) { __typename } }';
const timeLiteral = (literal: string) => `{ deviceFingerprint(token: "x", eventTime: ${literal}) { __typename } }`;
const OBJECT_QUERY = `query ($object: JSONObject) {
  deviceFingerprint(token: "x", metadata: { additional: $object }) { __typename }
}`;
const objectLiteral = (literal: string) =>
  `{ deviceFingerprint(token: "x", metadata: { additional: ${literal} }) { __typename } }`;

/** The body that the upstream got, or undefined if it was not asked. */
async function forwarded(query: string, variables = {}): Promise<unknown> {
  await ask(app.graphqlUrl, query, variables);
  expect(upstream.received.length).toBeLessThan(2);
  const [request] = upstream.received.splice(0);
  return request && JSON.parse(request.body);
}

test.each(['2026-03-01T09:30:00+01:00', '2026-03-01T08:30:00.123456789Z', '2016-12-31T23:59:60Z'])(
  'a DateTime like %s is forwarded unchanged',
  async (time) => {
    const body = { device_token: 'x', event_time: time };
    expect(await forwarded(TIME_QUERY, { time })).toEqual(body);
    expect(await forwarded(timeLiteral(JSON.stringify(time)))).toEqual(body);
  },
);

test('a DateTime of null is left out', async () => {
  expect(await forwarded(TIME_QUERY, { time: null })).toEqual({ device_token: 'x' });
  expect(await forwarded(timeLiteral('null'))).toEqual({ device_token: 'x' });
});

// `test/conformance/catalogue.test.ts` has more of them.
test.each(['2026-03-01T09:30:00', '2026-03-01 09:30:00Z', '1990-12-31T23:59:60-08:00', '2026-03-01T09:30:00Z\n', ''])(
  'a DateTime like %j is refused',
  async (time) => {
    for (const [query, variables, code] of [
      [TIME_QUERY, { time }, 'BAD_USER_INPUT'],
      [timeLiteral(JSON.stringify(time)), {}, 'GRAPHQL_VALIDATION_FAILED'],
    ] as const) {
      const { status, errors } = await ask(app.graphqlUrl, query, variables);
      expect(status).toBe(400);
      expect(errors).toMatchObject([{ extensions: { code, retryable: false } }]);
      const expected = 'xpected DateTime, an RFC 3339 date-time with an offset such as 2026-03-01T09:30:00+01:00';
      expect(errors?.[0]?.message).toContain(expected);
    }
    expect(upstream.received).toEqual([]);
  },
);

test.each(['1772353800', '1.5', 'true', '{}', 'NOW'])('the literal %s is refused as a DateTime', async (literal) => {
  expect((await ask(app.graphqlUrl, timeLiteral(literal))).status).toBe(400);
  expect(upstream.received).toEqual([]);
});

const OBJECT_EXPECTED =
  /xpected JSONObject, a JSON object of at most 32 levels, without integers beyond 2\^53|larger than this subgraph accepts/;

const VALUES = { text: 'a "b" \n é', int: -7, float: 1.5, yes: true, no: null, list: [1, ['x'], { y: null }], o: {} };

test('a JSONObject reaches the upstream whole', async () => {
  const body = { device_token: 'x', metadata: VALUES };
  expect(await forwarded(OBJECT_QUERY, { object: VALUES })).toEqual(body);
  const literal =
    '{ text: "a \\"b\\" \\n é", int: -7, float: 1.5, yes: true, no: null, list: [1, ["x"], { y: null }], o: {} }';
  expect(await forwarded(objectLiteral(literal))).toEqual(body);
});

test('a JSONObject as a literal may hold variables, block texts and enum values', async () => {
  const query = `query ($a: String, $b: [Int], $c: JSONObject, $d: Int) {
      deviceFingerprint(token: "x", metadata: {
        additional: { a: $a, inner: { b: $b, c: $c, d: $d }, block: """ x """, kind: LOGIN }
      }) { __typename }
    }`;
  expect(await forwarded(query, { a: 'A', b: [1, 2], c: { z: 1 } })).toEqual({
    device_token: 'x',
    metadata: { a: 'A', inner: { b: [1, 2], c: { z: 1 } }, block: ' x ', kind: 'LOGIN' },
  });
});

test('keys that are names of JavaScript are data like all others, wherever they stand', async () => {
  const names = '"__proto__":{"admin":1},"constructor":{"prototype":{"admin":1}},"prototype":1';
  // The order in which keys are sent.
  const object = `{${names},"z":{${names},"z":[{${names},"z":1}]}}`;
  await post(app.graphqlUrl, `{ "query": ${JSON.stringify(OBJECT_QUERY)}, "variables": { "object": ${object} } }`);
  await ask(app.graphqlUrl, objectLiteral(object.replace(/"(\w+)":/g, '$1:')));
  const body = `{"device_token":"x","metadata":${object}}`;
  expect(upstream.received.splice(0).map((request) => request.body)).toEqual([body, body]);
  expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false);
});

test('a variable may have such a name too, and no other variable is read from it', async () => {
  const query = `query ($__proto__: JSONObject, $name: String) {
      deviceFingerprint(token: "x", metadata: { email: $name, additional: $__proto__ }) { __typename }
    }`;
  await post(app.graphqlUrl, `{ "query": ${JSON.stringify(query)}, "variables": {"__proto__":{"name":"of a key"}} }`);
  const body = { device_token: 'x', metadata: { name: 'of a key' } };
  expect(upstream.received.splice(0).map((request) => JSON.parse(request.body))).toEqual([body]);
});

const asLiteral = (value: unknown) => JSON.stringify(value).replaceAll('"', '');

test('a JSONObject of 32 levels is taken', async () => {
  const body = { device_token: 'x', metadata: nested(32) };
  expect(await forwarded(OBJECT_QUERY, { object: nested(32) })).toEqual(body);
  expect(await forwarded(objectLiteral(asLiteral(nested(32))))).toEqual(body);
});

test.each<[string, unknown]>([
  ['33 levels', nested(33)],
  ['1000 levels', nested(1000)],
  ['a list', [{ a: 1 }]],
  ['a text', 'a'],
  ['a text that is JSON', '{"a":1}'],
  ['a number', 5],
  ['a boolean', true],
])('a JSONObject with %s is refused', async (_what, object) => {
  const literal = typeof object === 'string' ? JSON.stringify(object) : asLiteral(object);
  for (const [query, variables] of [
    [OBJECT_QUERY, { object }],
    [objectLiteral(literal), {}],
  ] as const) {
    const { status, errors } = await ask(app.graphqlUrl, query, variables);
    expect(status).toBe(400);
    expect(errors?.[0]?.message).toMatch(OBJECT_EXPECTED);
  }
  expect(upstream.received).toEqual([]);
});

test.each(['1e400', '-1e400', '9007199254740993', '-9007199254740993', '1e21'])(
  'the number %s, which would become another one on its way, is refused',
  async (number) => {
    for (const additional of [`{ "a": ${number} }`, `{ "a": [{ "b": ${number} }] }`]) {
      const asVariable = `{ "query": ${JSON.stringify(OBJECT_QUERY)}, "variables": { "object": ${additional} } }`;
      for (const { status, errors } of [
        await post(app.graphqlUrl, asVariable),
        await ask(app.graphqlUrl, objectLiteral(additional.replaceAll('"', ''))),
      ]) {
        expect(status).toBe(400);
        expect(errors?.[0]?.message).toContain('without integers beyond 2^53');
      }
    }
    expect(upstream.received).toEqual([]);
  },
);

test('the largest numbers that stay what they are on their way are taken', async () => {
  const object = { most: 9007199254740991, least: -9007199254740991, half: 0.5, tiny: 5e-324 };
  expect(await forwarded(OBJECT_QUERY, { object })).toEqual({ device_token: 'x', metadata: object });
});
