import { expect, test } from 'vitest';
import { toOutcome } from '../../src/fingerprint/outcome.ts';
import type { Capabilities } from '../../src/graphql/context.ts';
import { ask } from '../support/requests.ts';
import { startServer } from '../support/server.ts';
import { CAPABILITIES } from './capabilities.ts';

const LIMIT = 4_000;
const message = 'The answer is larger than 4000 bytes. Ask for fewer fields or references in one request.';
const tooLarge = [{ message, extensions: { code: 'OVERLOADED', retryable: false } }];

test('an answer of more than MAX_ANSWER_BYTES is replaced by an error, and the log has the error', async () => {
  const small = await startServer(undefined, { maxAnswerBytes: LIMIT }, CAPABILITIES);
  // New, known and compiled.
  for (const _ of [1, 2, 3, 4]) {
    const { status, data, errors } = await ask(small.graphqlUrl, '{ signalCatalogue { code meaning } }');
    expect([status, data, errors]).toEqual([200, null, tooLarge]);
    expect(JSON.parse(small.logged().trimEnd().split('\n').at(-1) ?? '').errors).toEqual(['OVERLOADED']);
  }
  const { errors, text } = await ask(small.graphqlUrl, '{ signalCatalogue { code level } }');
  expect(errors).toBeUndefined();
  expect(text.length).toBeGreaterThan(0.5 * LIMIT);
  await small.stop();
});

test('MAX_ANSWER_BYTES counts bytes as JSON has them, and not characters', async () => {
  const reason = (text: string) => ({ data: { errors: [{ field: 'f', reason: text, type: 't' }] } });
  const query: Capabilities['fingerprintClient']['query'] = async (request) =>
    toOutcome(request, { status: 400, json: { code: 400, message: 'Invalid request', ...reason(request.token) } }, 0);
  const small = await startServer(
    undefined,
    { maxAnswerBytes: LIMIT },
    { ...CAPABILITIES, fingerprintClient: { query } },
  );
  const document =
    'query ($t: String!) { deviceFingerprint(token: $t) { ... on DeviceFingerprintRejected { errors { reason } } } }';
  const of = async (t: string) => ask(small.graphqlUrl, document, { t });
  expect((await of('a'.repeat(3_000))).data?.deviceFingerprint.errors).toEqual([{ reason: 'a'.repeat(3_000) }]);
  expect((await of('ä'.repeat(3_000))).errors).toEqual(tooLarge);
  expect((await of('\u0001'.repeat(600))).data?.deviceFingerprint.errors).toEqual([{ reason: '\u0001'.repeat(600) }]);
  expect((await of('\u0001'.repeat(700))).errors).toEqual(tooLarge);
  await small.stop();
});
