import { createHmac } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { INPUT, PASS, startWithAllPolicies } from './support.ts';

/** What `validateCaptcha` sends, and what it refuses before; `schema/fixtures/` has what a frontend sees. Section numbers are the captcha document's. */

describe('the request (section 4)', async () => {
  const { upstream, answerWith, validate, stop } = await startWithAllPolicies();
  afterAll(stop);
  beforeEach(() => {
    upstream.received.length = 0;
    answerWith(PASS);
  });

  test('the request to verify a captcha (section 4) is a form with everything but the captcha id, which is in the URL', async () => {
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
    ['genTime', ' 12'],
    ['genTime', '１２'],
    ['lotNumber', ''],
    ['lotNumber', 'lot\ud800'],
    ['captchaOutput', '\udc00'],
    ['captchaOutput', `é${'!'.repeat(16_383)}`],
    ['passToken', '!'.repeat(16_385)],
    ['genTime', '1\n'],
    ['genTime', '1'.repeat(16_385)],
    ['captchaId', 'f'.repeat(32)],
    ['captchaId', ''],
  ])('a captcha is refused before any call with %s %j', async (name, value) => {
    expect(await validate({ ...INPUT, [name]: value })).toMatchObject([
      {
        message: expect.stringContaining(`input.${name}: expected `),
        extensions: { code: 'BAD_USER_INPUT', retryable: false },
      },
    ]);
    expect(upstream.received).toEqual([]);
  });

  test.each([
    ['lotNumber', 'lot_number', 'Los № 1 — 驗證 💳\n\u0000'],
    ['lotNumber', 'lot_number', '驗'.repeat(5_461)],
    ['captchaOutput', 'captcha_output', 'x'.repeat(16_384)],
    ['passToken', 'pass_token', 'é'.repeat(8_192)],
    ['genTime', 'gen_time', '1'.repeat(16_384)],
  ])(
    'the request to verify a captcha has any %s of at most 16 KiB in UTF-8 unchanged, signed as UTF-8 (2.1, 5), case %#',
    async (name, wire, value) => {
      const lot_number = name === 'lotNumber' ? value : INPUT.lotNumber;
      answerWith({ ...PASS, captcha_args: { ...PASS.captcha_args, lot_number } });
      expect(await validate({ ...INPUT, [name]: value })).toMatchObject({
        proceed: true,
        details: { lotNumber: lot_number },
      });
      const form = new URLSearchParams(upstream.received[0]?.body);
      expect(form.get(wire)).toBe(value);
      const signed = createHmac('sha256', 'key_sandbox_glb').update(Buffer.from(lot_number, 'utf8')).digest('hex');
      expect(form.get('sign_token')).toBe(signed);
    },
  );
});
