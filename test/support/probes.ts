import { FAIL } from '../faults/documented.ts';

/** The probes with which the app finds out whether an upstream is well. A test's upstream has to answer them as well. */

/** Lot numbers of challenges that the sandbox has issued through an upstream of a test. */
export const issued = new Set<string>();

const CHALLENGE = /lot_number=([\da-f]{32})&captcha_output=[\w-]{128}&pass_token=[\da-f]{64}&/;

/** Is this the request of a probe: an empty token, or a challenge that looks like a widget's and that nobody has issued? */
export function isProbe(request: string): boolean {
  const [, lotNumber] = CHALLENGE.exec(request) ?? [];
  return request.includes('"device_token":""') || (lotNumber !== undefined && !issued.has(lotNumber));
}

/** The documented answer to the probe with this body: a refused token (2.10), or a failed verification (2.4). */
export function probeAnswer(body: string): { readonly status: number; readonly body: string } {
  if (body.includes('device_token')) {
    const errors = [
      { field: 'device_token', reason: 'String should have at least 1 character', type: 'string_too_short' },
    ];
    return { status: 400, body: JSON.stringify({ code: 400, message: 'Invalid request', data: { errors } }) };
  }
  const { lot_number } = Object.fromEntries(new URLSearchParams(body));
  return { status: 200, body: JSON.stringify({ ...FAIL, captcha_args: { ...FAIL.captcha_args, lot_number } }) };
}
