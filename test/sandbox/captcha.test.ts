import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { sign as signWith } from '../conformance/captcha-http.ts';

/** The captcha service of the sandbox, and its challenges. test/conformance has what the document says. */

const sandbox = await startSandbox({ port: 0 });
const url = sandbox.urls.GLB;
afterAll(sandbox.stop);

/** The captcha ids of the sandbox: GLB, NA, EU, deleted, paused. */
const [A = '', B = '', C = '', D = '', E = ''] = SANDBOX_CAPTCHAS.map(({ captchaId }) => captchaId);
const sign = (lotNumber: string, captchaKey = 'key_sandbox_glb') => signWith(lotNumber, captchaKey);

type Values = Record<string, string | undefined>;

/** Requests a challenge; returns the JSON of the response. */
async function requestChallenge(baseUrl: string, captchaId = A): Promise<Record<string, string>> {
  const response = await fetch(`${baseUrl}/sandbox/challenges?captcha_id=${captchaId}`, { method: 'POST' });
  return response.json();
}

/** A complete form with a valid signature. `changes` adds or replaces values; undefined leaves one out. */
function formOf(challenge: Values, changes: Values = {}): URLSearchParams {
  const { captcha_id: _, ...values } = challenge;
  const form = new URLSearchParams();
  const all: Values = { ...values, sign_token: sign(changes['lot_number'] ?? values['lot_number'] ?? ''), ...changes };
  for (const [name, value] of Object.entries(all)) if (value !== undefined) form.set(name, value);
  return form;
}

/** Posts a form to /validate; returns the JSON of the response. */
async function validate(baseUrl: string, form: URLSearchParams, captchaId = A): Promise<unknown> {
  const response = await fetch(`${baseUrl}/validate?captcha_id=${captchaId}`, { method: 'POST', body: form });
  return response.json();
}

/** The outcome of a verification: `pass`, the reason of a failure, or the code of an exception. */
function outcomeOf(response: unknown): string | undefined {
  const { status, result, reason, code } = Object(response);
  if (status === 'error') return code;
  return result === 'success' ? 'pass' : reason;
}

/** A form with valid values, for a lot number that was never issued. */
function madeUp(lotNumber: string, changes: Values = {}) {
  return formOf(
    { lot_number: lotNumber, captcha_output: 'output', pass_token: 'pass', gen_time: '1767323045' },
    changes,
  );
}

const outcome = async (form: URLSearchParams, captchaId = A) => outcomeOf(await validate(url, form, captchaId));

describe('issuing a challenge', () => {
  test('returns the four values that the client SDK returns', async () => {
    expect(await requestChallenge(url)).toEqual({
      captcha_id: A,
      lot_number: expect.stringMatching(/^[0-9a-f]{32}$/),
      captcha_output: expect.stringMatching(/^.{64,}$/),
      pass_token: expect.stringMatching(/^.{64}$/),
      gen_time: expect.stringMatching(/^[0-9]{10}$/),
    });
  });

  test.each([
    ['', '-50101'],
    ['short', '-50102'],
    ['z'.repeat(32), '-50103'],
    [B, '-50103'],
    [C, '-50103'],
    [D, '-50104'],
    [E, '-50105'],
  ])('for captcha id %j is refused with %s, like a verification', async (captchaId, code) => {
    const refused = await requestChallenge(url, captchaId);
    expect(refused).toMatchObject({ status: 'error', code, desc: { type: 'defined error' } });
    expect(await validate(url, madeUp('sandbox:fail:x'), captchaId)).toEqual(refused);
  });
});

describe('where the parameters are', () => {
  test('the captcha id may be in the form, or in both the URL and the form', async () => {
    const post = async (search: string, form: URLSearchParams) =>
      outcomeOf(await (await fetch(`${url}/validate${search}`, { method: 'POST', body: form })).json());
    expect(await post('', formOf(await requestChallenge(url), { captcha_id: A }))).toBe('pass');
    expect(await post(`?captcha_id=${A}`, formOf(await requestChallenge(url), { captcha_id: A }))).toBe('pass');
    expect(await post(`?captcha_id=${A}`, formOf(await requestChallenge(url), { captcha_id: B }))).toBe('-50102');
    // Fifteen and sixteen characters: together, with something between them, they are as long as an id.
    expect(await post('?captcha_id=123456789012345', formOf({}, { captcha_id: '1234567890123456' }))).toBe('-50102');
  });

  test('a GET has all parameters in the query, and its content type does not matter', async () => {
    const form = formOf(await requestChallenge(url), { captcha_id: A });
    const response = await fetch(`${url}/validate?${form}`, { headers: { 'content-type': 'application/json' } });
    expect(outcomeOf(await response.json())).toBe('pass');
  });

  test('a body of more than 1 MiB gets a 413 with an exception', async () => {
    const body = new URLSearchParams({ lot_number: 'x'.repeat(1024 * 1024) });
    const response = await fetch(`${url}/validate?captcha_id=${A}`, { method: 'POST', body });
    expect(response.status).toBe(413);
    expect(await response.json()).toMatchObject({ status: 'error', code: '-50000', msg: 'runtime error' });
  });
});

test.each([
  ['gen_time', '', '-50005'],
  ['lot_number', '', '-50302'],
  ['lot_number', 'ABCDEF', '-50303'],
  ['lot_number', 'sandbox:fail:', '-50303'],
  ['lot_number', 'sandbox:exception:-1', '-50303'],
  ['captcha_output', undefined, '-50002'],
  ['pass_token', undefined, '-50306'],
  ['sign_token', '', 'illegal sign_token'],
])('the missing or malformed parameter %s %j gets %s', async (name, value, expected) => {
  expect(await outcome(formOf(await requestChallenge(url), { [name]: value }))).toBe(expected);
});

describe('a challenge', () => {
  test('is consumed by a pass and by nothing else', async () => {
    const challenge = await requestChallenge(url);
    const lotNumber = challenge['lot_number'] ?? '';
    expect(await outcome(formOf(challenge, { sign_token: sign(lotNumber, 'wrong') }))).toBe('illegal sign_token');
    expect(await outcome(formOf(challenge, { captcha_output: 'forged' }))).toBe('-50002');
    expect(await outcome(formOf(challenge, { pass_token: 'forged' }))).toBe('-50306');
    expect(await outcome(formOf(challenge, { gen_time: '1' }))).toBe('-50005');
    const na = formOf(challenge, { sign_token: sign(lotNumber, 'key_sandbox_na') });
    expect(outcomeOf(await validate(sandbox.urls.NA, na, B))).toBe('lot_number not match');
    expect(await outcome(formOf(challenge))).toBe('pass');
  });

  test('that was never issued gets -50301 with a right signature, and only then', async () => {
    expect(await outcome(madeUp('0'.repeat(32)))).toBe('-50301');
    expect(await outcome(madeUp('0'.repeat(32), { sign_token: 'x' }))).toBe('illegal sign_token');
  });

  test('expires', async () => {
    const challenge = await requestChallenge(url);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await outcome(formOf(challenge))).toBe('pass_token expire');
  });
});

describe('a lot number that forces an outcome', () => {
  test.each([
    ['-50000', 'undefined error'],
    ['-50301', 'defined error'],
  ])('sandbox:exception:%s is of type "%s"', async (code, type) => {
    expect(await validate(url, madeUp(`sandbox:exception:${code}`))).toMatchObject({ code, desc: { type } });
  });

  test.each(['sandbox:fail:pass_token expire', 'sandbox:exception:-50000'])(
    '%s needs a right signature',
    async (lot) => {
      expect(await outcome(madeUp(lot, { sign_token: sign(lot, 'wrong') }))).toBe('illegal sign_token');
    },
  );
});
