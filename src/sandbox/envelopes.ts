import type { FingerprintData, WireFieldError } from '../fingerprint/contract.ts';
import type { JsonResponse } from './http.ts';

/** The envelopes of the fingerprint service (section 2). Their `code` is always the HTTP status (section 4, rule 1). */

/** The messages of the errors whose `data` is empty (section 7). */
const MESSAGES = {
  401: 'Invalid bearer token',
  403: 'Forbidden',
  404: 'integration not found',
  500: 'Internal server error',
} as const;

/** The statuses of the errors whose `data` is empty. */
export type ErrorStatus = keyof typeof MESSAGES;

/** A success (2.3). */
export function success(data: FingerprintData): JsonResponse {
  return { status: 200, body: { code: 200, message: 'Success', data } };
}

/** A 400 with the invalid fields (2.10). */
export function invalidRequest(errors: readonly WireFieldError[]): JsonResponse {
  return { status: 400, body: { code: 400, message: 'Invalid request', data: { errors } } };
}

/** The 400 for an invalid device token, word for word as in section 7. */
export function invalidToken(): JsonResponse {
  return invalidRequest([{ field: 'device_token', reason: 'Invalid token', type: 'value_error' }]);
}

/** Any other error (section 7). */
export function errorResponse(status: ErrorStatus): JsonResponse {
  return { status, body: { code: status, message: MESSAGES[status], data: {} } };
}
