import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { CAPTCHA_MUTATION, ENTITIES_QUERY, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { startRecorded } from './support.ts';

/** Whatever the variables are, the answer does not repeat them, and never says that this server failed. */

const { app, stop } = await startRecorded();
afterAll(stop);

/** Long enough not to turn up in a message by chance. */
const text = fc.string({ unit: 'grapheme', minLength: 6 }).map((random) => `§${random}`);
const json = fc.jsonValue({ stringUnit: 'grapheme' });
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { weight: 3, arbitrary: text },
    json,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value')),
  ),
}));

/** Now and then a record of the right names, so that the values get further than the first check. */
const recordOf = (names: readonly string[], arbitrary: fc.Arbitrary<unknown>) =>
  fc.oneof(arbitrary, fc.record(Object.fromEntries(names.map((name) => [name, arbitrary])), { requiredKeys: [] }));

const QUESTIONS = {
  [FINGERPRINT_QUERY]: fc.record(
    {
      token: fc.oneof(text, value),
      metadata: recordOf(['accountId', 'phoneNum', 'email', 'additional'], value),
      eventType: fc.oneof(text, value),
      eventTime: value,
      publicKey: value,
    },
    { requiredKeys: [] },
  ),
  [CAPTCHA_MUTATION]: fc.record({
    input: recordOf(['captchaId', 'lotNumber', 'captchaOutput', 'passToken', 'genTime'], fc.oneof(text, value)),
  }),
  [ENTITIES_QUERY]: fc.record({
    representations: fc.array(
      fc.record(
        { __typename: fc.oneof(fc.constant('DeviceFingerprint'), value), token: value, publicKey: value },
        { requiredKeys: [] },
      ),
      { maxLength: 3 },
    ),
  }),
};

/** Every text and every name in a JSON value. */
function textsIn(json: unknown): string[] {
  if (typeof json === 'string') return [json];
  if (typeof json !== 'object' || json === null) return [];
  return Object.entries(json).flatMap(([name, inner]) => [...(Array.isArray(json) ? [] : [name]), ...textsIn(inner)]);
}

test.each(Object.entries(QUESTIONS))(
  '%s',
  async (query, arbitrary) => {
    await fc.assert(
      fc.asyncProperty(arbitrary, async (variables) => {
        const answer = await ask(app.graphqlUrl, query, variables);
        expect(answer.status).toBeLessThan(500);
        for (const { extensions } of answer.errors ?? []) {
          expect(extensions).toEqual({ code: expect.stringMatching(/^[A-Z_]+$/), retryable: expect.any(Boolean) });
          expect(extensions.code).not.toBe('INTERNAL_SERVER_ERROR');
        }
        const sent = textsIn(variables).filter((part) => part.startsWith('§'));
        for (const place of [answer.text, app.logged()]) {
          for (const part of sent) {
            expect(place).not.toContain(part);
            expect(place).not.toContain(JSON.stringify(part).slice(1, -1));
          }
        }
      }),
      { numRuns: 150 },
    );
  },
  30_000,
);
