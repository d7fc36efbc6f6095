import { expect, test } from 'vitest';
import type { JudgedDevice } from '../../src/fingerprint/outcome.ts';
import type { FingerprintParts } from '../../src/fingerprint/slice.ts';
import { ANDROID, SIGNAL } from '../faults/documented.ts';
import { outcomeOf } from '../fingerprint/support.ts';
import { startSubgraph, withDevices } from '../graphql/capabilities.ts';
import { ENTITIES_QUERY, entitiesQuery, referencesTo } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { pieces, times } from '../support/times.ts';
import { untilEnd } from '../support/until-end.ts';

const LIMIT = 4_000;
const overloaded = (message: string) => [{ message, extensions: { code: 'OVERLOADED', retryable: false } }];
const tooLarge = overloaded('The answer is larger than 4000 bytes. Ask for fewer fields or references in one request.');
const tooMuch = overloaded(
  'The answer costs more than 119000, because its lists or values are long. Ask for less in one request.',
);

test('an answer of too many bytes is replaced by an error, and the log has the error', async () => {
  const small = await untilEnd(startSubgraph({ maxAnswerBytes: LIMIT }));
  // New, known and compiled.
  for (const _ of [1, 2, 3, 4]) {
    const { status, data, errors } = await ask(small.graphqlUrl, '{ signalCatalogue { code meaning } }');
    expect([status, data, errors]).toEqual([200, null, tooLarge]);
    expect(JSON.parse(small.logged().trimEnd().split('\n').at(-1) ?? '').errors).toEqual(['OVERLOADED']);
  }
  const { errors, text } = await ask(small.graphqlUrl, '{ signalCatalogue { code level } }');
  expect(errors).toBeUndefined();
  expect(text.length).toBeGreaterThan(0.5 * LIMIT);
});

test('the size of an answer counts in bytes, and not in characters', async () => {
  const reason = (text: string) => ({ data: { errors: [{ field: 'f', reason: text, type: 't' }] } });
  const query: FingerprintParts['query'] = async (request) =>
    outcomeOf(request, { status: 400, json: { code: 400, message: 'Invalid request', ...reason(request.token) } }, 0);
  const small = await untilEnd(startSubgraph({ maxAnswerBytes: LIMIT }, withDevices(query)));
  const document =
    'query ($t: String!) { deviceFingerprint(token: $t) { ... on DeviceFingerprintRejected { errors { reason } } } }';
  const of = async (t: string) => ask(small.graphqlUrl, document, { t });
  expect((await of('a'.repeat(3_000))).data?.deviceFingerprint.errors).toEqual([{ reason: 'a'.repeat(3_000) }]);
  expect((await of('ä'.repeat(3_000))).errors).toEqual(tooLarge);
  expect((await of('\u0001'.repeat(600))).data?.deviceFingerprint.errors).toEqual([{ reason: '\u0001'.repeat(600) }]);
  expect((await of('\u0001'.repeat(700))).errors).toEqual(tooLarge);
});

/** A page with so many values of its own as the token says, each as long as a number can be, and ten signals. */
const query: FingerprintParts['query'] = async (request) => {
  const json = { ...ANDROID, data: { ...ANDROID.data, signals: Array(10).fill(SIGNAL) } };
  const a = Array(Number.parseInt(request.token, 10) || 0).fill(-1.2345678901234567e-200);
  const deviceBasic: JudgedDevice['deviceBasic'] = {
    __typename: 'Web',
    browser: { additional: { a } },
    device: {},
    os: {},
  };
  return { ...outcomeOf(request, { status: 200, json }, 0), deviceBasic };
};

const reports = (aliases: number) =>
  entitiesQuery(`deviceBasic { ... on Web { browser { ${pieces(aliases, (at) => `a${at}: additional`)} } } }`);
const tokens = (aliases: number, length = 1) =>
  entitiesQuery(pieces(aliases, (at) => `${`a${at}`.padEnd(length, '_')}: token`));

const LONG_TOKENS = ['x', 'y', 'z'].map((letter) => letter.repeat(15_000));

test.each([
  ['everything about 1,000 pages', undefined, ENTITIES_QUERY, times(1_000, () => '20')],
  ['950 numbers under 270 aliases', undefined, reports(270), ['950']],
  ['950 numbers under 290 aliases', tooMuch, reports(290), ['950']],
  ['950 numbers under 600 aliases for 14 references', tooMuch, reports(600), times(14, () => '950')],
  ['three texts of 15,000 characters under 90 aliases', undefined, tokens(90), LONG_TOKENS],
  ['three texts of 15,000 characters under 100 aliases', tooMuch, tokens(100), LONG_TOKENS],
  ['7,500 escapes under 90 aliases', undefined, tokens(90), ['\u0001'.repeat(7_500)]],
  ['7,500 escapes under 100 aliases', tooMuch, tokens(100), ['\u0001'.repeat(7_500)]],
  ['90 names of 250 characters for 160 references', undefined, tokens(90, 250), times(160, () => 't')],
  ['90 names of 250 characters for 180 references', tooMuch, tokens(90, 250), times(180, () => 't')],
])(
  'the cost of an answer counts what stands in it each time that it stands there: %s',
  async (_what, expected, document, of) => {
    const server = await untilEnd(startSubgraph({}, withDevices(query)));
    expect((await ask(server.graphqlUrl, document, referencesTo(of))).errors).toEqual(expected);
  },
);
