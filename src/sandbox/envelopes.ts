import type { FingerprintData, WireFieldError } from '../fingerprint/contract.ts';
import type { Answer } from './http.ts';

/** The envelopes of the fingerprint service. The HTTP status is always the `code` (section 4, rule 1). */

/** The messages of section 7 that come without details. */
const REFUSALS = {
  401: 'Invalid bearer token',
  403: 'Forbidden',
  404: 'integration not found',
  500: 'Internal server error',
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** A success (2.3). */
export function success(data: FingerprintData): Answer {
  return { status: 200, body: { code: 200, message: 'Success', data } };
}

/** A 400 with the fields at fault (2.10). */
export function invalidRequest(errors: readonly WireFieldError[]): Answer {
  return { status: 400, body: { code: 400, message: 'Invalid request', data: { errors } } };
}

/** The 400 of a device token that describes nothing, word for word as in section 7. */
export function invalidToken(): Answer {
  return invalidRequest([{ field: 'device_token', reason: 'Invalid token', type: 'value_error' }]);
}

/** Any other error (section 7): its `data` is empty. */
export function refusal(code: RefusalCode): Answer {
  return { status: code, body: { code, message: REFUSALS[code], data: {} } };
}
