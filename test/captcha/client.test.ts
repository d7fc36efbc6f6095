import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { toForm } from '../../src/captcha/request.ts';
import { INPUT, PASS, startWithAllPolicies } from './support.ts';

/** What `validateCaptcha` sends, and what it refuses before. Section numbers are the captcha document's. */

const { upstream, answerWith, validate, stop } = await startWithAllPolicies();
afterAll(stop);
beforeEach(() => {
  upstream.received.length = 0;
  answerWith(PASS);
});

describe('the request (section 4)', () => {
  test('is a form with everything but the captcha id, which is in the URL', async () => {
    await validate({ ...INPUT, captchaId: 'b'.repeat(32), captchaOutput: 'a+b/c=&d ~', passToken: '100% sure' });
    expect(upstream.received).toHaveLength(1);
    const [{ method, url, headers, body } = { method: '', url: '', headers: {}, body: '' }] = upstream.received;
    expect([method, url]).toEqual(['POST', `/validate?captcha_id=${'b'.repeat(32)}`]);
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      lot_number: 'lot-1',
      captcha_output: 'a+b/c=&d ~',
      pass_token: '100% sure',
      gen_time: '1700000000',
      // printf lot-1 | openssl dgst -sha256 -hmac key_sandbox_na
      sign_token: '4c49827c1229e8f9afd2c956a2ced9771974537997e606549e80f4caa215b5e8',
    });
  });

  test.each([
    ['genTime', ''],
    ['genTime', '12a'],
    ['genTime', ' 12'],
    ['genTime', '-12'],
    ['genTime', '１２'],
    ['genTime', '1'.repeat(21)],
    ['lotNumber', ''],
    ['lotNumber', 'lot\ud800'],
    ['passToken', 'é'],
    ['captchaOutput', '\u{1f600}'],
    ['captchaOutput', ''],
    ['captchaOutput', '!'.repeat(4_097)],
    ['passToken', '\udc00'],
    ['captchaId', 'f'.repeat(32)],
    ['captchaId', ''],
  ])('is refused before any call with %s %j', async (name, value) => {
    expect(await validate({ ...INPUT, [name]: value })).toMatchObject([
      {
        message: expect.stringContaining(`input.${name}: expected `),
        extensions: { code: 'BAD_USER_INPUT', retryable: false },
      },
    ]);
    expect(upstream.received).toEqual([]);
  });

  test('is sent with a genTime of 20 digits', async () => {
    expect(await validate({ ...INPUT, genTime: '1'.repeat(20) })).toMatchObject({ proceed: true });
  });
});

const text = fc.string({ unit: 'grapheme', minLength: 1 });

test('every form is decoded to what was encoded', () => {
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

test('every form has the bytes of the standard for forms', () => {
  const ascii = fc.string({ unit: 'binary-ascii' });
  const value = fc.oneof(text, ascii, fc.constantFrom("!'()~*-._ +/=%&", '\ud800', 'a\udc00b'));
  fc.assert(
    fc.property(value, value, value, value, (lotNumber, captchaOutput, passToken, genTime) => {
      const fields = { lot_number: lotNumber, captcha_output: captchaOutput, pass_token: passToken, gen_time: genTime };
      const form = toForm({ lotNumber, captchaOutput, passToken, genTime }, 'key');
      expect(form.replace(/&sign_token=[0-9a-f]{64}$/, '')).toBe(new URLSearchParams(fields).toString());
    }),
    { numRuns: 2_000 },
  );
});
