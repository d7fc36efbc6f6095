import { describe, expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { prepareCaptcha } from '../../src/captcha/request.ts';
import { captchaProbe } from '../../src/captcha/service.ts';
import { sign } from '../conformance/captcha-http.ts';
import exceptions from '../fixtures/captcha-exceptions.json' with { type: 'json' };
import reasons from '../fixtures/failure-reasons.json' with { type: 'json' };
import { ARGS, EXCEPTION, FAIL, PASS } from './support.ts';

/** What an answer to a probe shows about a captcha id. Section numbers are the captcha document's. */

const HEALTHY_PROBE = { evidence: 'well', reason: '' };
/** For a probe this is well, too. */
const ANSWERED = { evidence: 'answered', reason: 'rejection' };
const account = { captchaId: 'a'.repeat(32), captchaKey: 'key_sandbox_glb', region: 'GLB' } as const;
const probe = captchaProbe(prepareCaptcha({ ...account, baseUrl: 'http://127.0.0.1:9' }));
const judge = (json: unknown, status = 200) => probe.classify({ status, json }, probe.body());

/** The codes that blame the captcha id: 7.2 names what is wrong with it. -50001 is about the risk type of a challenge. */
const BLAMING: Readonly<Record<string, string>> = {
  '-50101': 'unknown_account',
  '-50102': 'unknown_account',
  '-50103': 'unknown_account',
  '-50104': 'withdrawn',
  '-50105': 'withdrawn',
};

describe('what a documented answer shows', () => {
  test.each(exceptions)('a probe that gets the exception $code, $msg (7.2)', ({ code, msg }) => {
    const shown = () => {
      if (code === '-50000') return { evidence: 'failed', reason: 'exception -50000' };
      return { evidence: BLAMING[code] ?? 'answered', reason: code };
    };
    for (const status of [200, 302, 500]) expect(judge({ ...EXCEPTION, code, msg }, status)).toEqual(shown());
  });

  test.each(reasons)('a probe that gets a failure with the reason $reason (7.1)', ({ reason }) => {
    const blames = { evidence: 'refused', reason: 'illegal sign_token' };
    expect(judge({ ...FAIL, reason })).toEqual(reason === 'illegal sign_token' ? blames : ANSWERED);
  });

  test('a probe that gets a failure for an undocumented reason shows that the service judges', () => {
    expect(judge({ ...FAIL, reason: 'of a new kind' })).toEqual(ANSWERED);
  });

  test('a probe that gets a pass shows that the service judges, although a made-up challenge should not get one', () => {
    expect(judge(PASS)).toEqual(HEALTHY_PROBE);
  });
});

describe('an answer that is not documented', () => {
  test.each<[string, unknown, number?]>([
    ['another result', { ...PASS, result: 'reject' }],
    ['a failure as a status', { status: 'fail' }],
    ['a failure as a status with HTTP status 503', { status: 'fail' }, 503],
    ['a pass without its details', { ...PASS, captcha_args: undefined }],
    ['a result beside an unknown status', { status: 'ok', result: 'success', captcha_args: ARGS }],
  ])('an undocumented answer to a probe that judges the challenge is no outage: %s', (_what, body, status) => {
    expect(judge(body, status)).toMatchObject({ evidence: 'inconclusive' });
  });

  test.each<[string, unknown, number, string]>([
    ['a page with HTTP status 200', undefined, 200, 'inconclusive'],
    ['an empty object', {}, 200, 'inconclusive'],
    ['a list', [PASS], 200, 'inconclusive'],
    ['a bare 503', undefined, 503, 'failed'],
    ['a bare 429', undefined, 429, 'limited'],
    ['a bare 401', undefined, 401, 'inconclusive'],
    ['a challenge of a firewall', undefined, 202, 'inconclusive'],
    ['a redirect to the page of a firewall', undefined, 302, 'inconclusive'],
    ['the JSON of a firewall', { status: 'error', message: 'Forbidden' }, 403, 'inconclusive'],
    ['a bare 403', undefined, 403, 'inconclusive'],
    ['an unknown exception', { ...EXCEPTION, code: '-59999' }, 200, 'inconclusive'],
    ['an unknown exception with HTTP status 500', { ...EXCEPTION, code: '-59999' }, 500, 'failed'],
    ['an exception without a code', { ...EXCEPTION, code: undefined }, 200, 'inconclusive'],
    [
      'an unknown exception of the family of the captcha id',
      { ...EXCEPTION, code: '-50199' },
      200,
      'undocumented_refusal',
    ],
    ['an unknown exception of the family of a challenge', { ...EXCEPTION, code: '-50399' }, 200, 'answered'],
  ])('an undocumented answer to a probe: %s', (_what, body, status, evidence) => {
    expect(judge(body, status)).toMatchObject({ evidence });
  });
});

describe('the question', () => {
  test('a probe goes to the address of the captcha id, as a form (section 4)', () => {
    expect(probe).toMatchObject({
      region: 'GLB',
      origin: 'http://127.0.0.1:9',
      path: `/validate?captcha_id=${account.captchaId}`,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': `device-trust-subgraph/${packageJson.version}`,
        'accept-encoding': 'identity',
      },
    });
  });

  test('a probe is about a made-up challenge with a correct signature, and about another one each time', () => {
    const forms = [probe.body(), probe.body()].map((form) => Object.fromEntries(new URLSearchParams(form)));
    for (const { lot_number = '', gen_time, ...others } of forms) {
      expect(lot_number).toMatch(/^[0-9a-f]{32}$/);
      expect(Math.abs(Number(gen_time) - Date.now() / 1_000)).toBeLessThan(10);
      expect(others).toEqual({
        // As in a challenge of the sandbox, for which no document has a form.
        captcha_output: expect.stringMatching(/^[\w-]{128}$/),
        pass_token: expect.stringMatching(/^[\da-f]{64}$/),
        sign_token: sign(lot_number, account.captchaKey),
      });
    }
    for (const name of ['lot_number', 'captcha_output', 'pass_token'])
      expect(forms[0]?.[name]).not.toBe(forms[1]?.[name]);
  });
});

test('a probe whose signature is refused makes the next one sign with the other key, even if it is late', () => {
  const one = captchaProbe(
    prepareCaptcha({ ...account, captchaKey: 'old', nextCaptchaKey: 'new', baseUrl: 'http://127.0.0.1:9' }),
  );
  const keyOf = (body: string) => {
    const { lot_number = '', sign_token } = Object.fromEntries(new URLSearchParams(body));
    return ['old', 'new'].find((key) => sign(lot_number, key) === sign_token);
  };
  const refused = { status: 200, json: { ...FAIL, reason: 'illegal sign_token' } };
  const [first, second] = [one.body(), one.body()];
  expect(one.classify(refused, first)).toMatchObject({ evidence: 'inconclusive' });
  const third = one.body();
  expect(one.classify(refused, second)).toMatchObject({ evidence: 'inconclusive' });
  expect([first, second, third, one.body()].map(keyOf)).toEqual(['old', 'old', 'new', 'new']);
  // Both are a mistake, unless something else was answered in between.
  expect(one.classify(refused, third)).toMatchObject({ evidence: 'refused' });
  one.classify({ status: 200, json: FAIL }, one.body());
  expect(one.classify(refused, one.body())).toMatchObject({ evidence: 'inconclusive' });
});
