import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startInSandboxMode } from '../support/app.ts';
import { solveChallenge } from '../support/challenges.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { ask } from '../support/requests.ts';
import { INPUT, PASS, startWithAllPolicies } from './support.ts';

/** What `validateCaptcha` sends, what it refuses before, and what a frontend sees. Section numbers are the captcha document's. */

describe('the request (section 4)', async () => {
  const { upstream, answerWith, validate, stop } = await startWithAllPolicies();
  afterAll(stop);
  beforeEach(() => {
    upstream.received.length = 0;
    answerWith(PASS);
  });

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

const app = await startInSandboxMode();
const generous = await startInSandboxMode({ maxCaptchas: 2 });
afterAll(() => Promise.all([app.stop(), generous.stop()]));

const [A, B, C, DELETED, PAUSED] = ['a', 'b', 'c', 'd', 'e'].map((letter) => letter.repeat(32));

async function solve(captchaId = A, region: 'GLB' | 'NA' | 'EU' = 'GLB', at = app) {
  return { captchaId, ...(await solveChallenge(at.sandboxUrls?.[region] ?? '', captchaId)) };
}

async function validate(input: Record<string, unknown>) {
  const { data, errors } = await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input });
  return errors ?? data.validateCaptcha;
}

const ANYTHING = { lotNumber: 'x', captchaOutput: 'x', passToken: 'x', genTime: '1' };

describe('against the sandbox, a solved challenge', () => {
  test('passes, with its details (2.3)', async () => {
    const challenge = await solve();
    expect(await validate(challenge)).toEqual({
      __typename: 'CaptchaPassed',
      proceed: true,
      details: {
        usedType: expect.any(String),
        userIp: expect.any(String),
        lotNumber: challenge.lotNumber,
        scene: expect.any(String),
        referer: expect.any(String),
      },
    });
  });

  test('passes in every region, and under the first captcha id when none is named', async () => {
    expect(await validate(await solve(B, 'NA'))).toMatchObject({ proceed: true });
    expect(await validate(await solve(C, 'EU'))).toMatchObject({ proceed: true });
    const { captchaId, ...unnamed } = await solve();
    expect(captchaId).toBe(A);
    expect(await validate(unnamed)).toMatchObject({ __typename: 'CaptchaPassed' });
  });

  test('never passes again: a replay does not proceed (-50003)', async () => {
    const challenge = await solve();
    expect(await validate(challenge)).toMatchObject({ proceed: true });
    const replayed = { __typename: 'CaptchaIndeterminate', proceed: false, cause: 'CLIENT', code: '-50003' };
    expect(await validate(challenge)).toMatchObject(replayed);
  });

  test('twice in one operation is one too many by default: the second one fails alone, without a call', async () => {
    const first = await solve();
    const second = await solve();
    const query = `mutation ($first: ValidateCaptchaInput!, $second: ValidateCaptchaInput!) {
      one: validateCaptcha(input: $first) { proceed }
      two: validateCaptcha(input: $second) { proceed }
    }`;
    const { data, errors } = await ask(app.graphqlUrl, query, { first, second });
    expect(data).toEqual({ one: { proceed: true }, two: null });
    expect(errors).toMatchObject([{ path: ['two'], extensions: { code: 'OVERLOADED', retryable: false } }]);
    expect(await validate(second)).toMatchObject({ proceed: true });
  });
});

describe('against the sandbox, what does not pass', () => {
  test.each([
    ['pass_token expire', 'PASS_TOKEN_EXPIRED'],
    ['lot_number not match', 'LOT_NUMBER_MISMATCH'],
    ['illegal sign_token', 'ILLEGAL_SIGN_TOKEN'],
    ['anything else', 'OTHER'],
  ])('a failure with reason %s is %s (7.1)', async (reason, category) => {
    const lotNumber = `sandbox:fail:${reason}`;
    expect(await validate({ ...ANYTHING, lotNumber })).toEqual({
      __typename: 'CaptchaFailed',
      proceed: false,
      reason,
      category,
      details: { usedType: expect.any(String), userIp: expect.any(String), lotNumber },
    });
  });

  test.each([
    [DELETED, '-50104'],
    [PAUSED, '-50105'],
  ])('a captcha id out of service is for the operator to correct: %s', async (captchaId, code) => {
    const refused = { cause: 'CONFIGURATION', code, proceed: false };
    expect(await validate({ ...ANYTHING, captchaId })).toMatchObject(refused);
    expect(app.logged()).toContain(code);
  });

  test('an error leaves another verification of the same operation intact', async () => {
    const { data, errors } = await ask(
      generous.graphqlUrl,
      `mutation ($good: ValidateCaptchaInput!, $bad: ValidateCaptchaInput!) {
        bad: validateCaptcha(input: $bad) { proceed }
        good: validateCaptcha(input: $good) { proceed }
      }`,
      { good: await solve(A, 'GLB', generous), bad: { ...ANYTHING, genTime: 'soon' } },
    );
    expect(data).toEqual({ bad: null, good: { proceed: true } });
    expect(errors).toMatchObject([{ path: ['bad'], extensions: { code: 'BAD_USER_INPUT' } }]);
  });
});
