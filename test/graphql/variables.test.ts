import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { CANARIES, expectCallersFault, expectNoCanary, startRecorded } from './support.ts';

/** Variables that do not fit: which ones, what is said about them, and that the answer never repeats them. */

const { app, upstream, stop } = await startRecorded();
afterAll(stop);
afterEach(() => {
  expect(upstream.received).toEqual([]);
  expectNoCanary(app.logged());
});

const TOKEN = 'sandbox:web';
const INPUT = { lotNumber: 'l', captchaOutput: 'o', passToken: 'p', genTime: '1' };
const SIGNALS_QUERY = `query ($minLevel: SignalLevel, $minConfidence: Float) {
  deviceFingerprint(token: "x") { ... on DeviceFingerprint { signals(minLevel: $minLevel, minConfidence: $minConfidence) { name } } }
}`;
const ENTITIES = 'query ($representations: [_Any!]!) { _entities(representations: $representations) { __typename } }';

const metadata = (values: object) => ({ token: TOKEN, metadata: values });
const input = (values: object) => ({ input: { ...INPUT, ...values } });
const without = (name: keyof typeof INPUT) => ({ input: { ...INPUT, [name]: undefined } });

type Row = readonly [
  what: string,
  query: string,
  variables: (canary: unknown) => Record<string, unknown>,
  says: string,
];

const ROWS: readonly Row[] = [
  ['an object for the token', FINGERPRINT_QUERY, (c) => ({ token: { token: c } }), '$token: expected String!'],
  ['a list for the token', FINGERPRINT_QUERY, (c) => ({ token: [c] }), '$token: expected String!'],
  ['a boolean for the token', FINGERPRINT_QUERY, (c) => ({ token: true, other: c }), '$token: expected String!'],
  [
    'null for the token',
    FINGERPRINT_QUERY,
    (c) => ({ token: null, other: c }),
    '$token: expected String!, but got null',
  ],
  ['no token', FINGERPRINT_QUERY, (c) => ({ Token: c }), '$token: expected String!, but got nothing'],
  [
    'a text for metadata',
    FINGERPRINT_QUERY,
    (c) => ({ token: TOKEN, metadata: c }),
    '$metadata: expected DeviceMetadataInput',
  ],
  ['a list for metadata', FINGERPRINT_QUERY, (c) => metadata([c]), '$metadata: expected DeviceMetadataInput'],
  ['a list in metadata', FINGERPRINT_QUERY, (c) => metadata({ phoneNum: [c] }), '$metadata.phoneNum: expected String'],
  [
    'an object in metadata',
    FINGERPRINT_QUERY,
    (c) => metadata({ email: { a: c } }),
    '$metadata.email: expected String',
  ],
  [
    'an unknown field of metadata',
    FINGERPRINT_QUERY,
    (c) => metadata({ nickname: c }),
    '$metadata: expected DeviceMetadataInput',
  ],
  [
    'a canary as a field of metadata',
    FINGERPRINT_QUERY,
    (c) => metadata({ [String(c)]: 1 }),
    '$metadata: expected DeviceMetadataInput',
  ],
  [
    'a text for additional',
    FINGERPRINT_QUERY,
    (c) => metadata({ additional: c }),
    '$metadata.additional: expected JSONObject',
  ],
  [
    'a list for additional',
    FINGERPRINT_QUERY,
    (c) => metadata({ additional: [{ a: c }] }),
    '$metadata.additional: expected JSONObject',
  ],
  ['a list for eventType', FINGERPRINT_QUERY, (c) => ({ token: TOKEN, eventType: [c] }), '$eventType: expected String'],
  ['a bad eventTime', FINGERPRINT_QUERY, (c) => ({ token: TOKEN, eventTime: c }), '$eventTime: expected DateTime'],
  [
    'an object for eventTime',
    FINGERPRINT_QUERY,
    (c) => ({ token: TOKEN, eventTime: { c } }),
    '$eventTime: expected DateTime',
  ],
  ['a list for publicKey', FINGERPRINT_QUERY, (c) => ({ token: TOKEN, publicKey: [c] }), '$publicKey: expected ID'],
  ['no input', CAPTCHA_MUTATION, (c) => ({ Input: c }), '$input: expected ValidateCaptchaInput!, but got nothing'],
  [
    'null for the input',
    CAPTCHA_MUTATION,
    (c) => ({ input: null, c }),
    '$input: expected ValidateCaptchaInput!, but got null',
  ],
  ['a text for the input', CAPTCHA_MUTATION, (c) => ({ input: c }), '$input: expected ValidateCaptchaInput!'],
  [
    'a list for the input',
    CAPTCHA_MUTATION,
    (c) => ({ input: [{ ...INPUT, passToken: c }] }),
    '$input: expected ValidateCaptchaInput!',
  ],
  ['a list for genTime', CAPTCHA_MUTATION, (c) => input({ genTime: [c] }), '$input.genTime: expected String!'],
  [
    'an object for passToken',
    CAPTCHA_MUTATION,
    (c) => input({ passToken: { c } }),
    '$input.passToken: expected String!',
  ],
  [
    'null for lotNumber',
    CAPTCHA_MUTATION,
    (c) => input({ lotNumber: null, passToken: c }),
    '$input.lotNumber: expected String!, but got null',
  ],
  [
    'an unknown field of the input',
    CAPTCHA_MUTATION,
    (c) => input({ pass_token: c }),
    '$input: expected ValidateCaptchaInput!',
  ],
  [
    'no passToken',
    CAPTCHA_MUTATION,
    () => without('passToken'),
    '$input: expected ValidateCaptchaInput! with passToken',
  ],
  ['a text for minConfidence', SIGNALS_QUERY, (c) => ({ minConfidence: c }), '$minConfidence: expected Float'],
  ['an unknown minLevel', SIGNALS_QUERY, (c) => ({ minLevel: c }), '$minLevel: expected SignalLevel'],
  ['a list for minLevel', SIGNALS_QUERY, (c) => ({ minLevel: [c] }), '$minLevel: expected SignalLevel'],
  [
    'null for a representation',
    ENTITIES,
    (c) => ({ representations: [{ c }, null] }),
    '$representations.1: expected _Any!',
  ],
  ['no representations', ENTITIES, (c) => ({ representation: c }), '$representations: expected [_Any!]!'],
];

/** Numbers fit where no text is expected; where one is, they are as wrong as a list. */
const NUMBER_ROWS: readonly Row[] = [
  ['the token', FINGERPRINT_QUERY, (c) => ({ token: c }), '$token: expected String!, but got a number'],
  ['metadata', FINGERPRINT_QUERY, (c) => ({ token: TOKEN, metadata: c }), '$metadata: expected DeviceMetadataInput'],
  [
    'phoneNum',
    FINGERPRINT_QUERY,
    (c) => metadata({ phoneNum: c }),
    '$metadata.phoneNum: expected String, but got a number',
  ],
  ['additional', FINGERPRINT_QUERY, (c) => metadata({ additional: c }), '$metadata.additional: expected JSONObject'],
  ['eventTime', FINGERPRINT_QUERY, (c) => ({ token: TOKEN, eventTime: c }), '$eventTime: expected DateTime'],
  ['genTime', CAPTCHA_MUTATION, (c) => input({ genTime: c }), '$input.genTime: expected String!, but got a number'],
  [
    'lotNumber',
    CAPTCHA_MUTATION,
    (c) => input({ lotNumber: c }),
    '$input.lotNumber: expected String!, but got a number',
  ],
  ['minLevel', SIGNALS_QUERY, (c) => ({ minLevel: c }), '$minLevel: expected SignalLevel, but got a number'],
];

async function expectRefused([, query, variables, says]: Row, canary: unknown) {
  const answer = await ask(app.graphqlUrl, query, variables(canary));
  expect([answer.status, answer.data]).toEqual([400, undefined]);
  expectCallersFault(answer, 'BAD_USER_INPUT');
  expect(answer.errors?.[0]?.message).toContain(`${says}`);
}

describe('texts in the wrong place', () => {
  test.each(ROWS)('%s', async (...row) => {
    for (const canary of CANARIES) await expectRefused(row, canary);
  });
});

describe('a telephone number as a number', () => {
  test.each(NUMBER_ROWS)('for %s', (...row) => expectRefused(row, 13_800_138_000));
});

describe('many mistakes', () => {
  test('are named together', async () => {
    const [phone, email, token] = CANARIES;
    const wrong = { lotNumber: [token], captchaOutput: { email }, passToken: 5, genTime: Number(phone) };
    const answer = await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: wrong });
    expectCallersFault(answer, 'BAD_USER_INPUT');
    for (const name of Object.keys(wrong))
      expect(answer.errors?.[0]?.message).toContain(`$input.${name}: expected String!`);
  });

  test('beyond five are counted', async () => {
    const names = ['accountId', 'phoneNum', 'email', 'ja3', 'ja4', 'userAgent', 'tlsCipher'];
    const answer = await ask(
      app.graphqlUrl,
      FINGERPRINT_QUERY,
      metadata(Object.fromEntries(names.map((name) => [name, CANARIES]))),
    );
    expectCallersFault(answer, 'BAD_USER_INPUT');
    expect(answer.errors?.[0]?.message).toMatch(/and 2 more\.$/);
  });
});
