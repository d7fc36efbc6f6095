import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import { sign } from '../conformance/captcha-http.ts';

/** The captcha rules of the sandbox where the document is silent (src/sandbox/README.md). test/conformance has the documented ones. */

const sandbox = await startSandbox({ port: 0 });
afterAll(sandbox.stop);
const { GLB } = sandbox.urls;
const ID = 'a'.repeat(32);

type Values = Readonly<Record<string, string>>;

async function solve(): Promise<Values> {
  return (await fetch(`${GLB}/sandbox/challenges?captcha_id=${ID}`, { method: 'POST' })).json();
}

/** The outcome of a verification with a valid signature: `pass`, the reason of a failure, or the code of an exception. */
async function outcomeOf({ captcha_id: _, ...values }: Values, changes: Values = {}) {
  const all: Values = { ...values, ...changes };
  const sign_token = sign(all['lot_number'] ?? '', 'key_sandbox_glb');
  const body = new URLSearchParams({ sign_token, ...all });
  const { status, result, reason, code } = Object(
    await (await fetch(`${GLB}/validate?captcha_id=${ID}`, { method: 'POST', body })).json(),
  );
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
    const challenge = await solve();
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
    const challenge = await solve();
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await outcomeOf(challenge)).toBe('pass_token expire');
  });
});
