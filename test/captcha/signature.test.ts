import { expect, test } from 'vitest';
import { signToken } from '../../src/captcha/signature.ts';
import vectors from '../fixtures/signature.json' with { type: 'json' };

test.each(vectors)(
  'the signature is the one that openssl computes: $name',
  ({ lotNumber, captchaKey, signToken: expected }) => {
    expect(signToken(lotNumber, captchaKey)).toBe(expected);
  },
);
