import { expect, test } from 'vitest';
import { prepareApplication } from '../../src/fingerprint/request.ts';
import { fingerprintProbe } from '../../src/fingerprint/service.ts';
import { ANDROID } from '../faults/documented.ts';
import documentedErrors from '../fixtures/fingerprint-errors.json' with { type: 'json' };

/** What an answer to a probe shows about an application. Section numbers are the fingerprint document's. */

const HEALTHY_PROBE = { evidence: 'well', reason: '' };
const account = { publicKey: 'pk_1', secret: 'sk_1', region: 'EU', baseUrl: 'http://127.0.0.1:9' };
const probe = fingerprintProbe(prepareApplication(account));

/** What each documented error shows: 400 is about the token, 401, 403 and 404 are about us (section 7). */
const SHOWN: Readonly<Record<number, object>> = {
  400: { evidence: 'answered', reason: '' },
  401: { evidence: 'refused', reason: 'HTTP status 401: Invalid bearer token' },
  403: { evidence: 'refused', reason: 'HTTP status 403' },
  404: { evidence: 'refused', reason: 'HTTP status 404: integration not found' },
  500: { evidence: 'failed', reason: 'HTTP status 500: Internal server error' },
};

test.each(documentedErrors)('a probe that gets the error $name shows who has to act', ({ status, message, data }) => {
  expect(probe.classify({ status, json: { code: status, message, data } }, probe.body())).toEqual(SHOWN[status]);
});

test('a probe that gets a success shows that the account works, although an empty token should not get one', () => {
  expect(probe.classify({ status: 200, json: ANDROID }, probe.body())).toEqual(HEALTHY_PROBE);
});

test.each<[string, unknown, number, string, string?]>([
  ['a page with HTTP status 200', undefined, 200, 'inconclusive'],
  ['an empty object', {}, 200, 'inconclusive'],
  ['a code unlike the HTTP status', { ...ANDROID, code: 500 }, 200, 'inconclusive'],
  ['a code unlike the HTTP status 401', { code: 500, message: 'x', data: {} }, 401, 'inconclusive'],
  ['a code unlike the HTTP status 503', { code: 200, message: 'x', data: {} }, 503, 'failed'],
  ['the envelope of a gateway', { code: 404, message: 'Not Found' }, 404, 'inconclusive'],
  ['the envelope of a firewall', { code: 403, message: 'Blocked', data: {} }, 403, 'inconclusive'],
  ['a bare 400', undefined, 400, 'inconclusive'],
  ['a 400 of something else', { error: 'bad request' }, 400, 'inconclusive'],
  ['a bare 401', undefined, 401, 'inconclusive'],
  ['a bare 403', undefined, 403, 'inconclusive'],
  ['a body in gzip', undefined, 200, 'inconclusive', 'gzip'],
])('a probe that gets an undocumented answer: %s', (_what, json, status, evidence, unreadable) => {
  expect(probe.classify({ status, json, unreadable }, probe.body())).toMatchObject({ evidence });
});

test('a probe asks about an empty token, which costs no event, with our credentials (section 4)', () => {
  expect(probe).toMatchObject({
    region: 'EU',
    origin: 'http://127.0.0.1:9',
    path: '/api/v2/fp_query/pk_1',
    headers: { authorization: 'Bearer sk_1', 'content-type': 'application/json', 'accept-encoding': 'identity' },
  });
  expect(JSON.parse(probe.body())).toEqual({ device_token: '' });
});
