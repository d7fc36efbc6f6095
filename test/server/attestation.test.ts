import { afterAll, describe, expect, test } from 'vitest';
import { generateKey } from '../../src/captcha/attestation.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import type { Config } from '../../src/settings/variables.ts';
import { INPUT } from '../captcha/support.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode, startInSandboxMode, type TestApp } from '../support/app.ts';
import { partsOf, verifyAttestation } from '../support/attestations.ts';
import { solveChallenge } from '../support/challenges.ts';
import { ask, json, post, request } from '../support/requests.ts';
import { untilEnd } from '../support/until-end.ts';
import { startWithoutUpstreams } from './support.ts';

/** What a service gets over HTTP: attestations, and the keys that verify them. */

const JWKS = '/.well-known/jwks.json';
const NAMED = { audience: 'orders', action: 'placeOrder' };
const MUTATION = `mutation ($input: ValidateCaptchaInput!) {
  validateCaptcha(input: $input) { __typename proceed attestation }
}`;

const keysOf = async (app: TestApp) => (await request(app.url + JWKS)).text;
const issuedBy = async (app: TestApp, assurance: string) =>
  (await readMetrics(app)).value('device_trust_attestations_total', { audience: 'orders', assurance });
const refusedBy = async (app: TestApp, reason: string) =>
  (await readMetrics(app)).value('device_trust_attestation_refusals_total', { reason });

describe('in sandbox mode, without any configuration', async () => {
  const app = await startInSandboxMode();
  afterAll(app.stop);
  const solve = () => solveChallenge(String(app.sandboxUrls?.GLB));
  const validate = async (input: object, mutation = MUTATION) => ask(app.graphqlUrl, mutation, { input });

  test('a pass gets an attestation that the published keys verify', async () => {
    const { lotNumber, ...rest } = await solve();
    const { data } = await validate({ lotNumber, ...rest, ...NAMED });
    const { attestation, ...others } = data.validateCaptcha;
    expect(others).toEqual({ __typename: 'CaptchaPassed', proceed: true });
    const claims = { action: 'placeOrder', assurance: 'verified', captcha_id: 'a'.repeat(32) };
    expect(await verifyAttestation(attestation, await keysOf(app))).toMatchObject(claims);
    const { header, payload } = partsOf(attestation);
    expect(JSON.parse(await keysOf(app)).keys.map(({ kid }: { kid: string }) => kid)).toEqual([header.kid]);
    expect(Math.abs(payload.iat - Date.now() / 1_000)).toBeLessThan(30);
    expect(payload.exp - payload.iat).toBe(120);
    expect(attestation + JSON.stringify(payload)).not.toContain(lotNumber);
  });

  const EVERYWHERE = `mutation ($input: ValidateCaptchaInput!) {
    validateCaptcha(input: $input) {
      attestation
      again: attestation
      ... on CaptchaValidation { third: attestation }
      ... on CaptchaPassed { attestation fourth: attestation ...Passed }
    }
  }
  fragment Passed on CaptchaPassed { fifth: attestation }`;

  test('an attestation is signed once, however often it is selected', async () => {
    const before = Number(await issuedBy(app, 'verified'));
    // The last ones come from compiled code.
    for (const time of [1, 2, 3, 4, 5]) {
      const { data } = await validate({ ...(await solve()), ...NAMED }, EVERYWHERE);
      const attestations = Object.values(data.validateCaptcha);
      expect(attestations).toHaveLength(5);
      expect(new Set(attestations).size).toBe(1);
      expect(attestations[0]).toEqual(expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]{86}$/));
      expect(await issuedBy(app, 'verified')).toBe(before + time);
    }
  });

  test('an attestation is not signed without an audience, which an error says, or where the field is not selected', async () => {
    const before = await issuedBy(app, 'verified');
    for (const changes of [{}, {}, {}, {}, { lotNumber: 'sandbox:fail:pass_token expire' }]) {
      const { data, errors } = await validate({ ...(await solve()), ...changes });
      expect(data.validateCaptcha).toMatchObject({ proceed: !('lotNumber' in changes), attestation: null });
      const code = 'BAD_USER_INPUT';
      expect(errors).toMatchObject([{ path: ['validateCaptcha', 'attestation'], extensions: { code } }]);
    }
    const unselected = 'mutation ($input: ValidateCaptchaInput!) { validateCaptcha(input: $input) { proceed } }';
    const { data } = await validate({ ...(await solve()), ...NAMED }, unselected);
    expect(data.validateCaptcha).toEqual({ proceed: true });
    expect(await issuedBy(app, 'verified')).toBe(before);
  });

  test('an attestation that is refused is counted, and does not spend the challenge', async () => {
    const challenge = await solve();
    const before = Number(await refusedBy(app, 'audience'));
    const { data, errors } = await validate({ ...challenge, audience: 'payments', action: 'placeOrder' });
    expect(data).toEqual({ validateCaptcha: null });
    const message = expect.stringMatching(/the operator .* has to add it to ATTESTATION/);
    expect(errors).toMatchObject([{ message, extensions: { code: 'BAD_USER_INPUT', retryable: false } }]);
    expect(await refusedBy(app, 'audience')).toBe(before + 1);
    expect((await validate({ ...challenge, ...NAMED })).data.validateCaptcha).toMatchObject({
      __typename: 'CaptchaPassed',
      attestation: expect.any(String),
    });
  });
});

const active = generateKey('active');
const next = generateKey('next');
const retired = generateKey('retired');
const attestation: NonNullable<Config['attestation']> = {
  issuer: 'https://device-trust.sandbox',
  lifetimeSeconds: 60,
  audiences: [
    { id: 'orders', actions: ['placeOrder'], subject: 'optional' },
    { id: 'bank', actions: ['pay'], subject: 'required' },
  ],
};

test('an audience in live mode without a configuration is NOT_CONFIGURED before anything is asked, and there are no keys', async () => {
  const bare = await untilEnd(startWithoutUpstreams());
  for (const named of [NAMED, { audience: 'orders' }]) {
    const input = { ...INPUT, ...named };
    const { data, errors } = await ask(bare.graphqlUrl, MUTATION, { input });
    expect(data).toEqual({ validateCaptcha: null });
    const message = expect.stringMatching(/ATTESTATION and ATTESTATION_KEYS/);
    expect(errors).toMatchObject([{ message, extensions: { code: 'NOT_CONFIGURED', retryable: false } }]);
  }
  const { status, text } = await request(bare.url + JWKS);
  expect([status, JSON.parse(text).errors[0].extensions.code]).toEqual([404, 'NOT_CONFIGURED']);
});

test('sandbox mode attests what is configured with a key of its own', async () => {
  const app = await untilEnd(startInSandboxMode({ attestation }));
  const input = { ...(await solveChallenge(String(app.sandboxUrls?.GLB))), ...NAMED };
  const { data } = await ask(app.graphqlUrl, MUTATION, { input });
  const { exp = 0, iat = 0 } = await verifyAttestation(data.validateCaptcha.attestation, await keysOf(app));
  expect(exp - iat).toBe(attestation.lifetimeSeconds);
});

describe('behind a router', async () => {
  const router = { 'router-authorization': 'the-secret-of-the-router' };
  const sandbox = await startSandbox({ port: 0 });
  const app = await startInLiveMode(sandbox.urls, {
    attestation,
    attestationKeys: [next, active, retired],
    routerSecrets: [router['router-authorization']],
    trustedHeaders: { subject: 'x-user-id', scopes: undefined },
  });
  afterAll(() => Promise.all([app.stop(), sandbox.stop()]));
  const NAMED_BANK = { audience: 'bank', action: 'pay' };
  async function validate(audience: object, headers: Record<string, string>) {
    const input = { ...(await solveChallenge(sandbox.urls.GLB)), ...audience };
    return post(app.graphqlUrl, JSON.stringify({ query: MUTATION, variables: { input } }), headers);
  }

  test.each([
    ['required', NAMED_BANK],
    ['optional', NAMED],
  ])('the person of an attestation is the one of the trusted header where it is %s', async (_required, audience) => {
    const { data } = await validate(audience, { ...router, 'x-user-id': 'person-1' });
    const pinned = { audience: audience.audience };
    expect(await verifyAttestation(data.validateCaptcha.attestation, await keysOf(app), pinned)).toMatchObject({
      sub: 'person-1',
      assurance: 'verified',
    });
    expect(partsOf(data.validateCaptcha.attestation).header.kid).toBe(active.kid);
  });

  test('the person is nobody without the header, or with a malformed one, so it is FORBIDDEN where it is required', async () => {
    for (const headers of [{}, { 'x-user-id': '' }, { 'x-user-id': 'x'.repeat(257) }, { 'x-other': 'person-1' }]) {
      const { data, errors } = await validate(NAMED_BANK, { ...router, ...headers });
      expect(data).toEqual({ validateCaptcha: null });
      expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    }
    const { data } = await validate(NAMED, router);
    expect(partsOf(data.validateCaptcha.attestation).payload).not.toHaveProperty('sub');
  });

  test('the keys of attestations are published without a secret: the public parts of all of them', async () => {
    const { status, headers, text } = await request(app.url + JWKS);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/jwk-set+json');
    expect(headers.get('cache-control')).toBe('max-age=300');
    expect(JSON.parse(text)).toEqual({
      keys: [next, active, retired].map(({ kid, x, y }) => {
        return { kty: 'EC', crv: 'P-256', x, y, kid, alg: 'ES256', use: 'sig' };
      }),
    });
    for (const { d } of [next, active, retired]) expect(text + app.logged()).not.toContain(d);
  });

  test('the keys of attestations have no body for HEAD, and take no other method', async () => {
    const head = await request(app.url + JWKS, { method: 'HEAD' });
    expect([head.status, head.headers.get('cache-control'), head.text]).toEqual([200, 'max-age=300', '']);
    for (const init of [json('{}'), { method: 'PUT' }, { method: 'DELETE' }]) {
      const { status, headers } = await request(app.url + JWKS, init);
      expect([status, headers.get('allow'), headers.get('cache-control')]).toEqual([405, 'GET, HEAD', 'no-store']);
    }
  });
});
