import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { invalidRequestEnvelope, successEnvelope } from '../../src/fingerprint/contract.ts';
import { SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';

type Values = Record<string, string | undefined>;

/** The fields that distinguish the outcomes of a verification. */
const verificationResponse = z.object({
  status: z.enum(['success', 'error']),
  result: z.enum(['success', 'fail']).optional(),
  reason: z.string().optional(),
  code: z.string().optional(),
});

/** Sends a query with the GLB application, unless the options have another public key or other headers. */
export function query(
  baseUrl: string,
  body: unknown,
  options: { publicKey?: string; headers?: Record<string, string> } = {},
) {
  return fetch(`${baseUrl}/api/v2/fp_query/${options.publicKey ?? 'pk_sandbox_glb'}`, {
    method: 'POST',
    headers: options.headers ?? { authorization: 'Bearer sk_sandbox_glb', 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** The data of a success. */
export async function dataOf(response: Response) {
  return successEnvelope.parse(await response.json()).data;
}

/** The field errors of a 400. */
export async function errorsOf(response: Response) {
  return invalidRequestEnvelope.parse(await response.json()).data.errors;
}

/** The captcha ids of the sandbox: GLB, NA, EU, deleted, paused. */
export const [A = '', B = '', C = '', D = '', E = ''] = SANDBOX_CAPTCHAS.map((row) => row.captchaId);

export function sign(lotNumber: string, captchaKey = 'key_sandbox_glb') {
  return createHmac('sha256', captchaKey).update(lotNumber).digest('hex');
}

/** Requests a challenge; returns the JSON of the response. */
export async function requestChallenge(baseUrl: string, captchaId: string): Promise<unknown> {
  const response = await fetch(`${baseUrl}/sandbox/challenges?captcha_id=${captchaId}`, { method: 'POST' });
  return response.json();
}

/** A solved challenge for the first captcha id. */
export async function issue(baseUrl: string) {
  return z.record(z.string(), z.string()).parse(await requestChallenge(baseUrl, A));
}

/** A complete form with a valid signature. `changes` adds or replaces values; undefined leaves one out. */
export function formOf(challenge: Values, changes: Values = {}): URLSearchParams {
  const { captcha_id: _, ...values } = challenge;
  const form = new URLSearchParams();
  const all: Values = { ...values, sign_token: sign(changes['lot_number'] ?? values['lot_number'] ?? ''), ...changes };
  for (const [name, value] of Object.entries(all)) if (value !== undefined) form.set(name, value);
  return form;
}

/** Posts a form to /validate; returns the JSON of the response. */
export async function validate(baseUrl: string, form: URLSearchParams, captchaId = A): Promise<unknown> {
  const response = await fetch(`${baseUrl}/validate?captcha_id=${captchaId}`, { method: 'POST', body: form });
  return response.json();
}

/** The outcome of a verification: `pass`, the reason of a failure, or the code of an exception. */
export function outcomeOf(response: unknown): string | undefined {
  const { status, result, reason, code } = verificationResponse.parse(response);
  if (status === 'error') return code;
  return result === 'success' ? 'pass' : reason;
}
