import { expectKeys, expectSame } from './expect.ts';
import { expectError, expectFieldErrors, query } from './fingerprint-http.ts';
import { type Audit, audit } from './target.ts';

/** The error envelope and the table of errors (2.10, 7). Every reading of a reply also checks section 4, rules 1 and 2. */

const INVALID_TOKEN = 'conformance-not-a-token';

export const errorAudits: readonly Audit[] = [
  audit(
    'FP-2.10-envelope',
    'exactly code, message and data',
    ['application', 'token'],
    async ({ application, token }) => {
      const replies = [
        await query(application, {}),
        await query(application, { device_token: INVALID_TOKEN }),
        await query(application, { device_token: token }, { authorization: null }),
        await query({ ...application, publicKey: 'pk_conformance_unknown' }, { device_token: token }),
      ];
      for (const { body } of replies) expectKeys(body, ['code', 'message', 'data'], 'the error envelope');
      expectSame(
        replies.map(({ status }) => status),
        [400, 400, 401, 404],
        'statuses',
      );
    },
  ),
  audit(
    'FP-2.10-field-error',
    'a field error is exactly three strings',
    ['application', 'token'],
    async ({ application, token }) => {
      expectFieldErrors(await query(application, { device_token: 42 }));
      expectFieldErrors(await query(application, { device_token: token, event_time: 'yesterday' }));
      expectFieldErrors(await query(application, { device_token: token, metadata: { email: 42 } }));
    },
  ),
  audit('FP-7-400-missing', '400: a missing field is of type missing', ['application'], async ({ application }) => {
    expectError(await query(application, {}), 'field_required');
  }),
  audit('FP-7-400-token', '400: an invalid device_token is a value_error', ['application'], async ({ application }) => {
    expectError(await query(application, { device_token: INVALID_TOKEN }), 'invalid_token');
  }),
  audit('FP-7-401', '401: authentication failed', ['application', 'token'], async ({ application, token }) => {
    const wrong = { ...application, secret: 'wrong' };
    expectError(await query(wrong, { device_token: token }), 'invalid_bearer_token');
  }),
  audit('FP-7-403', '403: the application is unavailable', ['disabledApplication', 'token'], async (target) => {
    expectError(await query(target.disabledApplication, { device_token: target.token }), 'forbidden');
  }),
  audit('FP-7-404', '404: the public key is unknown', ['application', 'token'], async ({ application, token }) => {
    const unknown = { ...application, publicKey: 'pk_conformance_unknown' };
    expectError(await query(unknown, { device_token: token }), 'integration_not_found');
  }),
  audit('FP-7-500', '500: the service fails', ['application', 'brokenToken'], async ({ application, brokenToken }) => {
    expectError(await query(application, { device_token: brokenToken }), 'internal_server_error');
  }),
];
