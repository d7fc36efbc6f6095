import { expect } from 'vitest';
import { asking, expectError, expectSuccess, query } from './fingerprint-http.ts';
import { type Application, type Audit, audit, REGION_PAIRS, REGIONS } from './target.ts';

/** Who may ask, where, and how the application is named in the path (1, 4, 5, 8). */

const acrossRegions = ['applications', 'token'] as const;
const excluded = ['excludedApplication', 'token'] as const;

const regionAudits: readonly Audit[] = [
  ...REGIONS.map((region) =>
    audit(`FP-1-${region}`, `an application of ${region} is served there`, acrossRegions, async (target) => {
      expectSuccess(await query(target.applications[region], { device_token: target.token }));
    }),
  ),
  audit('FP-4-elsewhere', 'an application is not found in another region', acrossRegions, async (target) => {
    for (const { home, node } of REGION_PAIRS) {
      const astray: Application = { ...target.applications[home], url: target.applications[node].url };
      expectError(await query(astray, { device_token: target.token }), 'integration_not_found');
    }
  }),
];

/** The key with its first character percent-encoded: the same key to a reader of URLs. */
function percentEncoded(key: string): string {
  return `%${(key.codePointAt(0) ?? 0).toString(16).toUpperCase()}${key.slice(1)}`;
}

const pathAudits: readonly Audit[] = [
  asking('FP-4-key-encoded', 'a percent-encoded public key is the same key', async (application, token) => {
    const keyInPath = percentEncoded(application.publicKey);
    expectSuccess(await query(application, { device_token: token }, { keyInPath }));
  }),
  asking('FP-4-key-unknown', 'an unknown public key is not found', async (application, token) => {
    const unknown = { ...application, publicKey: 'pk_conformance_unknown' };
    expectError(await query(unknown, { device_token: token }), 'integration_not_found');
  }),
  asking('FP-4-key-exact', 'a public key in part or in another case is unknown', async (application, token) => {
    const { publicKey } = application;
    for (const other of [publicKey.slice(0, -1), `${publicKey}x`, publicKey.toUpperCase(), `${publicKey} `]) {
      const unknown = { ...application, publicKey: other };
      expectError(await query(unknown, { device_token: token }), 'integration_not_found');
    }
  }),
  asking('FP-4-key-slash', 'an encoded slash belongs to the key', async (application, token) => {
    for (const publicKey of [`${application.publicKey}/`, `x/../${application.publicKey}`, '/', '✓', '__proto__']) {
      expectError(await query({ ...application, publicKey }, { device_token: token }), 'integration_not_found');
    }
  }),
  // Which error a malformed path deserves is not shown; that every response is a documented envelope is.
  asking('FP-4-key-malformed', 'a malformed percent sequence is refused', async (application, token) => {
    const { status } = await query(application, { device_token: token }, { keyInPath: '%ZZ' });
    expect([400, 404]).toContain(status);
  }),
  asking('FP-4-content-charset', 'application/json may name its charset', async (application, token) => {
    const contentType = 'application/json; charset=utf-8';
    expectSuccess(await query(application, { device_token: token }, { contentType }));
  }),
  // The header is required; which error its absence raises is not shown.
  asking('FP-4-content-type', 'another Content-Type, or none, is refused', async (application, token) => {
    for (const contentType of ['text/plain', 'application/x-www-form-urlencoded', null]) {
      const { status } = await query(application, { device_token: token }, { contentType });
      expect([400, 401, 403, 404, 500], String(contentType)).toContain(status);
    }
  }),
  // Also an answer of the router: which error, is not shown.
  asking('FP-8-key-empty', 'a public key has at least one character', async (application, token) => {
    const { status } = await query({ ...application, publicKey: '' }, { device_token: token });
    expect([400, 404]).toContain(status);
  }),
  asking('FP-8-lengths', 'no length of one character is too short', async (application, token) => {
    expectError(await query(application, { device_token: 'x' }), 'invalid_token');
    expectError(await query({ ...application, publicKey: 'x' }, { device_token: token }), 'integration_not_found');
  }),
];

/** A query whose credential is refused. */
function unauthorized(
  id: `FP-5-${string}`,
  name: string,
  credentials: (application: Application) => readonly (string | null)[],
): Audit {
  return asking(id, `${name} is unauthorized`, async (application, token) => {
    for (const authorization of credentials(application)) {
      expectError(await query(application, { device_token: token }, { authorization }), 'invalid_bearer_token');
    }
  });
}

const authenticationAudits: readonly Audit[] = [
  unauthorized('FP-5-missing', 'a query without Authorization', () => [null]),
  unauthorized('FP-5-scheme', 'a query with another scheme, or none', ({ publicKey, secret }) => [
    secret,
    `Token ${secret}`,
    `Digest ${secret}`,
    `Basic ${Buffer.from(`${publicKey}:${secret}`).toString('base64')}`,
  ]),
  unauthorized('FP-5-empty', 'a query with a Bearer without a secret', () => ['Bearer', 'Bearer ']),
  unauthorized('FP-5-wrong', 'a query with a wrong secret', () => ['Bearer wrong', 'Bearer undefined', 'Bearer null']),
  unauthorized('FP-5-near', 'a query with the secret in part, with more, or in another case', ({ secret }) => [
    `Bearer ${secret.slice(0, -1)}`,
    `Bearer ${secret}x`,
    `Bearer ${secret} x`,
    `Bearer ${secret === secret.toUpperCase() ? secret.toLowerCase() : secret.toUpperCase()}`,
  ]),
  unauthorized('FP-5-public-key', 'a query with the public key as the secret', ({ publicKey }) => [
    `Bearer ${publicKey}`,
  ]),
  audit('FP-5-other-secret', 'the secret of another application is unauthorized', acrossRegions, async (target) => {
    for (const { home, node } of REGION_PAIRS) {
      const mixed = { ...target.applications[home], secret: target.applications[node].secret };
      expectError(await query(mixed, { device_token: target.token }), 'invalid_bearer_token');
    }
  }),
  audit('FP-5-disabled', 'a disabled application is forbidden', ['disabledApplication', 'token'], async (target) => {
    expectError(await query(target.disabledApplication, { device_token: target.token }), 'forbidden');
  }),
  audit('FP-5-allow-list', 'a caller off the allow-list is forbidden', excluded, async (target) => {
    expectError(await query(target.excludedApplication, { device_token: target.token }), 'forbidden');
  }),
  // The rule speaks of the caller's address; what the caller says about itself is not that.
  audit('FP-5-allow-list-spoofed', 'a header puts no caller on the allow-list', excluded, async (target) => {
    const { excludedApplication: application, token } = target;
    const address = application.allowedAddress;
    const claims = [
      { 'x-forwarded-for': address },
      { 'x-forwarded-for': `${address}, 127.0.0.1` },
      { 'x-forwarded-for': `127.0.0.1, ${address}` },
      { 'x-real-ip': address },
      { 'x-client-ip': address },
      { 'true-client-ip': address },
      { forwarded: `for=${address}` },
    ];
    for (const headers of claims) {
      expectError(await query(application, { device_token: token }, { headers }), 'forbidden');
    }
  }),
];

/** The error envelope and the table of errors (2.10, 7). Every reading of a reply also checks section 4, rules 1 and 2. */

const INVALID_TOKEN = 'conformance-not-a-token';

const errorAudits: readonly Audit[] = [
  audit('FP-7-400-token', 'status 400: an invalid device_token is a value_error', ['application'], async (target) => {
    expectError(await query(target.application, { device_token: INVALID_TOKEN }), 'invalid_token');
  }),
  audit('FP-7-500', 'status 500: the service fails', ['application', 'brokenToken'], async (target) => {
    expectError(await query(target.application, { device_token: target.brokenToken }), 'internal_server_error');
  }),
];

export const accessAudits: readonly Audit[] = [...regionAudits, ...pathAudits, ...authenticationAudits, ...errorAudits];
