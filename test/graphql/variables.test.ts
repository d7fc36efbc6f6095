import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { CAPTCHA_INPUT, CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
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
const SIGNALS_QUERY = `query ($minLevel: SignalLevel, $minConfidence: Float) {
  deviceFingerprint(token: "x") { ... on DeviceFingerprint { signals(minLevel: $minLevel, minConfidence: $minConfidence) { name } } }
}`;
const ENTITIES = 'query ($representations: [_Any!]!) { _entities(representations: $representations) { __typename } }';

const metadata = (values: object) => ({ token: TOKEN, metadata: values });
const input = (values: object) => ({ input: { ...CAPTCHA_INPUT, ...values } });

/** What does not fit, the variables with it in them, and what is said of them. */
type Row = readonly [what: string, variables: (canary: unknown) => Record<string, unknown>, says: string];

const OF_FINGERPRINT: readonly Row[] = [
  ['an object for the token', (c) => ({ token: { token: c } }), '$token: expected String!'],
  ['null for the token', (c) => ({ token: null, other: c }), '$token: expected String!, but got null'],
  ['no token', (c) => ({ Token: c }), '$token: expected String!, but got nothing'],
  ['a text for metadata', (c) => ({ token: TOKEN, metadata: c }), '$metadata: expected DeviceMetadataInput'],
  ['a list in metadata', (c) => metadata({ phoneNum: [c] }), '$metadata.phoneNum: expected String'],
  ['an unknown field of metadata', (c) => metadata({ nickname: c }), '$metadata: expected DeviceMetadataInput'],
  ['a canary as a field of metadata', (c) => metadata({ [String(c)]: 1 }), '$metadata: expected DeviceMetadataInput'],
  ['a text for additional', (c) => metadata({ additional: c }), '$metadata.additional: expected JSONObject'],
  ['a bad eventTime', (c) => ({ token: TOKEN, eventTime: c }), '$eventTime: expected DateTime'],
];

const OTHER_NAMES =
  '$input: expected ValidateCaptchaInput!, but got an object without passToken and with fields that it does not define';
const OF_CAPTCHA: readonly Row[] = [
  [
    'a list for the input',
    (c) => ({ input: [{ ...CAPTCHA_INPUT, passToken: c }] }),
    '$input: expected ValidateCaptchaInput!',
  ],
  ['null for lotNumber', (c) => input({ lotNumber: null, c }), '$input.lotNumber: expected String!, but got null'],
  ['an unknown field of the input', (c) => input({ pass_token: c }), '$input: expected ValidateCaptchaInput!'],
  ['no passToken', () => input({ passToken: undefined }), '!, but got an object without passToken.'],
  ['two other names', (c) => input({ passToken: undefined, pass_token: c, [`${c}`]: c }), OTHER_NAMES],
];

const LEVEL = '$minLevel: expected a value of the enum SignalLevel';
const OF_SIGNALS: readonly Row[] = [
  ['a text for minConfidence', (c) => ({ minConfidence: c }), '$minConfidence: expected Float'],
  ['an unknown minLevel', (c) => ({ minLevel: c }), `${LEVEL}, but got a string.`],
];

const OF_ENTITIES: readonly Row[] = [
  ['null for a representation', (c) => ({ representations: [{ c }, null] }), '$representations.1: expected _Any!'],
  ['no representations', (c) => ({ representation: c }), '$representations: expected [_Any!]!'],
];

const NUMBER = 13_800_138_000;

async function expectRefused(query: string, [, variables, says]: Row, canary: unknown) {
  const answer = await ask(app.graphqlUrl, query, variables(canary));
  expect([answer.status, answer.data]).toEqual([400, undefined]);
  expectCallersFault(answer, 'BAD_USER_INPUT');
  // Once, however many of its fields are wrong.
  expect(answer.errors?.[0]?.message.split(says)).toHaveLength(2);
}

describe.each([
  ['deviceFingerprint', FINGERPRINT_QUERY, OF_FINGERPRINT],
  ['validateCaptcha', CAPTCHA_MUTATION, OF_CAPTCHA],
  ['signals', SIGNALS_QUERY, OF_SIGNALS],
  ['_entities', ENTITIES, OF_ENTITIES],
])('a text in the wrong place of %s is refused by its path, and not repeated', (_field, query, rows) => {
  test.each(rows)('a text in the wrong place is refused by its path: %s', async (...row) => {
    for (const canary of CANARIES) await expectRefused(query, row, canary);
  });
});

test.each<[...Row, query: string]>([
  ['the token', (c) => ({ token: c }), '$token: expected String!, but got a number', FINGERPRINT_QUERY],
  ['minLevel', (c) => ({ minLevel: c }), `${LEVEL}, but got a number`, SIGNALS_QUERY],
])('a telephone number as a number for %s is refused, and not repeated', (what, variables, says, query) =>
  expectRefused(query, [what, variables, says], NUMBER),
);

test('many mistakes in variables are named together', async () => {
  const [phone, email, token] = CANARIES;
  const wrong = { lotNumber: [token], captchaOutput: { email }, passToken: 5, genTime: Number(phone) };
  const answer = await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: wrong });
  expectCallersFault(answer, 'BAD_USER_INPUT');
  for (const name of Object.keys(wrong))
    expect(answer.errors?.[0]?.message).toContain(`$input.${name}: expected String!`);
});

test('many mistakes in variables beyond five are counted', async () => {
  const names = ['accountId', 'phoneNum', 'email', 'ja3', 'ja4', 'userAgent', 'tlsCipher'];
  const answer = await ask(
    app.graphqlUrl,
    FINGERPRINT_QUERY,
    metadata(Object.fromEntries(names.map((name) => [name, CANARIES]))),
  );
  expectCallersFault(answer, 'BAD_USER_INPUT');
  expect(answer.errors?.[0]?.message).toMatch(/and 2 more\.$/);
});
