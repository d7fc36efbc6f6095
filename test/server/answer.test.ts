import { afterAll, describe, expect, test } from 'vitest';
import { createAnswerWriter, serialize } from '../../src/server/answer.ts';
import { startInLiveMode } from '../support/app.ts';
import { ask } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** An answer arrives whole, as JSON.stringify would write it, and has at most MAX_ANSWER_BYTES. */

const LIMIT = 4_000;
/** A fingerprint service that answers with the reason that the token is. */
const upstream = await startUpstream(({ body }, response) => {
  const errors = [{ field: 'device_token', reason: JSON.parse(body).device_token, type: 't' }];
  sendJson(response, 400, { code: 400, message: 'Invalid request', data: { errors } });
});
const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
const app = await startInLiveMode(urls, { maxAnswerBytes: LIMIT });
const large = await startInLiveMode(urls);
afterAll(() => Promise.all([app.stop(), large.stop(), upstream.stop()]));

const REASON = `query ($token: String!) {
  deviceFingerprint(token: $token) { ... on DeviceFingerprintRejected { errors { reason } } }
}`;
const reasonOf = async ({ graphqlUrl } = app, token = '') => {
  const { data, errors, text, headers } = await ask(graphqlUrl, REASON, { token });
  expect(headers.get('content-length')).toBe(`${Buffer.byteLength(text)}`);
  return { reason: data?.deviceFingerprint.errors[0].reason, errors };
};

const TOO_LARGE = [
  {
    message: 'The answer is larger than 4000 bytes. Ask for fewer fields or references in one request.',
    extensions: { code: 'OVERLOADED', retryable: false },
  },
];

test('a larger one is replaced by an error, whether the document is new or compiled, and the log has the error', async () => {
  for (let time = 0; time < 5; time += 1) {
    const { status, data, errors } = await ask(app.graphqlUrl, '{ signalCatalogue { code meaning } }');
    expect([status, data, errors]).toEqual([200, null, TOO_LARGE]);
    const line = JSON.parse(app.logged().trimEnd().split('\n').at(-1) ?? '');
    expect(line.errors).toEqual(['OVERLOADED']);
  }
  const { errors, text } = await ask(app.graphqlUrl, '{ signalCatalogue { code level } }');
  expect(errors).toBeUndefined();
  expect(text.length).toBeGreaterThan(0.5 * LIMIT);
});

test('bytes count, and not characters', async () => {
  expect(await reasonOf(app, 'a'.repeat(3_000))).toEqual({ reason: 'a'.repeat(3_000), errors: undefined });
  expect((await reasonOf(app, 'ä'.repeat(3_000))).errors).toEqual(TOO_LARGE);
});

test.each([1, 65_537, 100_000])('a text of %i characters of two bytes each arrives whole', async (characters) => {
  const token = 'ä'.repeat(characters);
  expect((await reasonOf(large, token)).reason === token).toBe(true);
});

describe('the writer', () => {
  /** Enough items to be written one by one. */
  const MANY = Array.from({ length: 30 }, (_, at) => ({ at, text: '"\n' }));
  const error = { message: 'no "data"', path: ['b', 1] };
  test.each([
    [{ data: null, errors: [error] }],
    [{ errors: [error] }],
    [{ data: {} }],
    [{ data: { a: [], b: [1, null, 'x\n"'], ç: { d: [[]] } }, errors: [error] }],
    [{ data: { a: MANY, b: [], c: null, ç: { d: [[]] } }, errors: [error] }],
    [{ data: { a: MANY }, extensions: { ftv1: 'trace' } }],
    [{ data: { a: [...MANY, ...MANY, null, null, 1, '1', 1] } }],
    [{ data: Object.fromEntries(MANY.map((value, at) => [`a${at}`, value])) }],
  ])('writes %j as JSON.stringify does', (result) => {
    expect(createAnswerWriter(LIMIT).write(result)).toBe(serialize(result));
    expect(JSON.parse(serialize(result))).toEqual(result);
  });

  test('stops as soon as the answer is too large', () => {
    let written = 0;
    const item = {
      toJSON: () => {
        written += 1;
        return 'x'.repeat(100);
      },
    };
    const { write, tooLarge } = createAnswerWriter(1_000);
    expect(write({ data: { list: Array(10_000).fill(item) } })).toBe(tooLarge.text);
    expect(written).toBeLessThan(20);
  });
});
