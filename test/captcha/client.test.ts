import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toForm } from '../../src/captcha/client.ts';
import { signToken } from '../../src/captcha/signature.ts';
import { type FailOpenPolicy, toVerdict } from '../../src/captcha/verdict.ts';
import vectors from '../fixtures/signature.json' with { type: 'json' };

/** Rules that hold for every input, tried on many. */

const text = fc.string({ unit: 'grapheme', minLength: 1 });

test('a form comes out of its encoding as it went in', () => {
  const input = fc.record({ lotNumber: text, captchaOutput: text, passToken: text, genTime: fc.nat().map(String) });
  fc.assert(
    fc.property(input, text, ({ lotNumber, captchaOutput, passToken, genTime }, key) => {
      const form = new URLSearchParams(toForm({ lotNumber, captchaOutput, passToken, genTime }, key));
      expect(Object.fromEntries(form)).toEqual({
        lot_number: lotNumber,
        captcha_output: captchaOutput,
        pass_token: passToken,
        gen_time: genTime,
        sign_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
    }),
  );
});

test.each(vectors)(
  'the signature is the one that openssl computes: $name',
  ({ lotNumber, captchaKey, signToken: expected }) => {
    expect(signToken(lotNumber, captchaKey)).toBe(expected);
  },
);

test('no answer is read as better than it is', () => {
  const word = fc.oneof(
    fc.constantFrom('success', 'fail', 'FAILED', false, 'error', '', 'lot-1', '-50003'),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const args = fc.record(
    { used_type: word, user_ip: word, lot_number: word, scene: word, referer: word },
    { requiredKeys: [] },
  );
  const answer = fc.oneof(
    fc.record(
      { status: word, result: word, reason: word, code: word, captcha_args: fc.oneof(args, word) },
      { requiredKeys: [] },
    ),
    fc.jsonValue(),
  );
  const status = fc.constantFrom(200, 200, 201, 302, 400, 500);
  const policy = fc.constantFrom<FailOpenPolicy>('faults', 'always', 'never');
  fc.assert(
    fc.property(answer, status, policy, fc.boolean(), (json, status, policy, isDefaultId) => {
      const verdict = toVerdict({ status, json }, 'lot-1', { policy, isDefaultId });
      const { status: said, result } = Object(json);
      if (['fail', 'FAILED', false].includes(result)) expect(verdict.proceed).toBe(false);
      if (policy === 'faults' && status === 400) expect(verdict.proceed).toBe(false);
      if (policy === 'never') expect(verdict.proceed).toBe(verdict.__typename === 'CaptchaPassed');
      if (verdict.__typename === 'CaptchaPassed') expect([status, said, result]).toEqual([200, 'success', 'success']);
    }),
    { numRuns: 5_000 },
  );
});
