import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import { parametersOf, submit } from '../conformance/captcha-http.ts';
import { sandboxTarget } from '../conformance/sandbox.ts';
import type { Challenge } from '../conformance/target.ts';

/** The captcha rules of the sandbox where the document is silent (src/sandbox/README.md). test/conformance has the documented ones. */

const sandbox = await startSandbox({ port: 0 });
afterAll(sandbox.stop);
const { captcha, solve } = sandboxTarget(sandbox.urls);

/** The outcome of a verification with a valid signature: `pass`, the reason of a failure, or the code of an exception. */
async function outcomeOf(challenge: Challenge, changes: Readonly<Record<string, string>> = {}) {
  const parameters = { ...parametersOf(captcha, { ...challenge, ...changes }), ...changes };
  const { status, result, reason, code } = Object((await submit(captcha, parameters)).body);
  return status === 'error' ? code : result === 'success' ? 'pass' : reason;
}

describe('captchas of the sandbox', () => {
  test.each([
    ['gen_time', '', '-50005'],
    ['gen_time', '1', '-50005'],
    ['lot_number', '', '-50302'],
    ['lot_number', 'ABCDEF', '-50303'],
    ['lot_number', 'sandbox:fail:', '-50303'],
    ['lot_number', 'sandbox:exception:-1', '-50303'],
    ['captcha_output', '', '-50002'],
    ['captcha_output', 'forged', '-50002'],
    ['pass_token', '', '-50306'],
    ['pass_token', 'forged', '-50306'],
    ['sign_token', '', 'illegal sign_token'],
  ])('a challenge with the %s %j gets %s, and passes afterwards', async (name, value, expected) => {
    const challenge = await solve(captcha);
    expect(await outcomeOf(challenge, { [name]: value })).toBe(expected);
    expect(await outcomeOf(challenge)).toBe('pass');
  });

  test.each([
    ['0'.repeat(32), '-50301'],
    ['sandbox:fail:pass_token expire', 'pass_token expire'],
    ['sandbox:exception:-50000', '-50000'],
  ])(
    'the lot number %s, which was never issued, gets %s, but only with a right signature',
    async (lot_number, expected) => {
      const unsolved = { lot_number, captcha_output: 'output', pass_token: 'pass', gen_time: '1767323045' };
      expect(await outcomeOf(unsolved)).toBe(expected);
      expect(await outcomeOf(unsolved, { sign_token: 'x' })).toBe('illegal sign_token');
    },
  );

  test('a challenge expires after ten minutes', async () => {
    const challenge = await solve(captcha);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await outcomeOf(challenge)).toBe('pass_token expire');
  });
});
