import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { generateKey } from '../../src/captcha/attestation-keys.ts';
import type { Config } from '../../src/config/variables.ts';
import { INPUT } from '../captcha/support.ts';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode, startInSandboxMode, type TestApp } from '../support/app.ts';
import { partsOf, verifyAttestation } from '../support/attestations.ts';
import { solveChallenge } from '../support/challenges.ts';
import { ask, post, request } from '../support/requests.ts';
import { answerAsDocumented, sendJson, startUpstream, type TestUpstream } from '../support/upstream.ts';

/** Attestations, as a service gets them over HTTP (design, section 8). */

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

describe('in sandbox mode, without any configuration', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startInSandboxMode();
  });
  afterAll(() => app.stop());
  const solve = () => solveChallenge(String(app.sandboxUrls?.GLB));
  const validate = async (input: object, mutation = MUTATION) => ask(app.graphqlUrl, mutation, { input });

  // Apollo Server executes the first ones, and compiled code the others.
  test.each([1, 2, 3, 4, 5])('pass %i gets an attestation that the published keys verify', async () => {
    const { lotNumber, ...rest } = await solve();
    const { data } = await validate({ lotNumber, ...rest, ...NAMED });
    const { attestation, ...others } = data.validateCaptcha;
    expect(others).toEqual({ __typename: 'CaptchaPassed', proceed: true });
    expect(await verifyAttestation(attestation, await keysOf(app))).toMatchObject({
      act: 'placeOrder',
      asr: 'verified',
      cid: 'a'.repeat(32),
    });
    const { header, payload } = partsOf(attestation);
    expect(JSON.parse(await keysOf(app)).keys.map(({ kid }: { kid: string }) => kid)).toEqual([header.kid]);
    expect(Math.abs(payload.iat - Date.now() / 1_000)).toBeLessThan(30);
    expect(payload.exp - payload.iat).toBe(120);
    expect(attestation).not.toContain(lotNumber);
    expect(JSON.stringify(payload)).not.toContain(lotNumber);
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

  test.each([1, 2, 3, 4, 5])('is signed once, however often it is selected: time %i', async () => {
    const before = Number(await issuedBy(app, 'verified'));
    const { data } = await validate({ ...(await solve()), ...NAMED }, EVERYWHERE);
    const attestations = Object.values(data.validateCaptcha);
    expect(attestations).toHaveLength(5);
    expect(new Set(attestations).size).toBe(1);
    expect(attestations[0]).toEqual(expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]{86}$/));
    expect(await issuedBy(app, 'verified')).toBe(before + 1);
  });

  test('nothing is signed without an audience, or where the field is not selected', async () => {
    const before = await issuedBy(app, 'verified');
    const without = await validate(await solve());
    expect(without.data.validateCaptcha).toEqual({ __typename: 'CaptchaPassed', proceed: true, attestation: null });
    const unselected = 'mutation ($input: ValidateCaptchaInput!) { validateCaptcha(input: $input) { proceed } }';
    const { data } = await validate({ ...(await solve()), ...NAMED }, unselected);
    expect(data.validateCaptcha).toEqual({ proceed: true });
    expect(await issuedBy(app, 'verified')).toBe(before);
  });

  test.each([
    ['CaptchaFailed', 'sandbox:fail:pass_token expire'],
    ['CaptchaIndeterminate', 'sandbox:exception:-50003'],
    ['CaptchaIndeterminate', 'sandbox:exception:-50105'],
  ])('%s for %s gets none', async (typename, lotNumber) => {
    const { data, errors } = await validate({ ...INPUT, lotNumber, ...NAMED });
    expect(errors).toBeUndefined();
    expect(data.validateCaptcha).toMatchObject({ __typename: typename, attestation: null });
  });

  test('a challenge that was attested before gets none', async () => {
    const challenge = await solve();
    await validate({ ...challenge, ...NAMED });
    const { data } = await validate({ ...challenge, ...NAMED });
    expect(data.validateCaptcha).toEqual({ __typename: 'CaptchaIndeterminate', proceed: false, attestation: null });
  });

  test.each([
    ['incomplete', { audience: 'orders' }],
    ['incomplete', { action: 'placeOrder' }],
    ['audience', { audience: 'payments', action: 'placeOrder' }],
    ['action', { audience: 'orders', action: 'deleteOrder' }],
    ['captcha_id', { ...NAMED, captchaId: 'f'.repeat(32) }],
  ])('a refusal because of %s does not spend the challenge: %j', async (reason, changes) => {
    const challenge = await solve();
    const before = Number(await refusedBy(app, reason));
    const { data, errors } = await validate({ ...challenge, ...changes });
    expect(data).toEqual({ validateCaptcha: null });
    expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'BAD_USER_INPUT', retryable: false }]);
    expect(await refusedBy(app, reason)).toBe(before + 1);
    expect((await validate({ ...challenge, ...NAMED })).data.validateCaptcha).toMatchObject({
      __typename: 'CaptchaPassed',
      attestation: expect.any(String),
    });
  });
});

const first = generateKey('active');
const attestation: NonNullable<Config['attestation']> = {
  issuer: 'https://device-trust.sandbox',
  lifetimeSeconds: 60,
  unverifiedPerMinute: 3,
  audiences: [
    { id: 'orders', actions: ['placeOrder'], subject: 'optional' },
    { id: 'bank', actions: ['pay'], subject: 'required' },
  ],
};

describe('in live mode', () => {
  /** Do probes fail as well? */
  let isOutage = false;
  let upstream: TestUpstream;
  let app: TestApp;
  let bare: TestApp;
  beforeAll(async () => {
    upstream = await startUpstream(
      (_request, response) => sendJson(response, 500, {}),
      (request, response) => (isOutage ? sendJson(response, 500, {}) : answerAsDocumented(request, response)),
    );
    const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
    app = await startInLiveMode(urls, { attestation, attestationKeys: [first] });
    bare = await startInLiveMode(urls);
  });
  afterAll(() => Promise.all([app.stop(), bare.stop(), upstream.stop()]));

  test('a fault that no probe confirms gives none', async () => {
    const { data } = await ask(app.graphqlUrl, MUTATION, { input: { ...INPUT, ...NAMED } });
    expect(data.validateCaptcha).toEqual({ __typename: 'CaptchaIndeterminate', proceed: false, attestation: null });
    expect(await issuedBy(app, 'unverified')).toBe(0);
  });

  test('an outage gives the same challenge one id, and no more attestations than a minute allows', async () => {
    isOutage = true;
    onTestFinished(() => {
      isOutage = false;
    });
    const attestations: (string | null)[] = [];
    for (let tries = 0; tries < 5; tries += 1) {
      const { data } = await ask(app.graphqlUrl, MUTATION, { input: { ...INPUT, ...NAMED } });
      expect(data.validateCaptcha).toMatchObject({ __typename: 'CaptchaIndeterminate', proceed: true });
      attestations.push(data.validateCaptcha.attestation);
    }
    expect(attestations.slice(3)).toEqual([null, null]);
    const jwks = await keysOf(app);
    const claims = await Promise.all(attestations.slice(0, 3).map((text) => verifyAttestation(String(text), jwks)));
    expect(claims.map(({ asr }) => asr)).toEqual(['unverified', 'unverified', 'unverified']);
    expect(new Set(claims.map(({ jti }) => jti)).size).toBe(1);
    expect(await issuedBy(app, 'unverified')).toBe(3);
    expect(await refusedBy(app, 'unverified_limit')).toBe(2);
  });

  test('nobody where a person is required is FORBIDDEN, and nothing is sent', async () => {
    upstream.received.length = 0;
    const input = { ...INPUT, audience: 'bank', action: 'pay' };
    const { data, errors } = await ask(app.graphqlUrl, MUTATION, { input });
    expect(data).toEqual({ validateCaptcha: null });
    expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'FORBIDDEN', retryable: false }]);
    expect(upstream.received).toEqual([]);
    expect(await refusedBy(app, 'subject')).toBe(1);
  });

  test('without a configuration no audience is known, and there are no keys', async () => {
    const { errors } = await ask(bare.graphqlUrl, MUTATION, { input: { ...INPUT, ...NAMED } });
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT']);
    expect((await request(bare.url + JWKS)).status).toBe(404);
  });
});

describe('the person of an attestation', () => {
  const router = { 'router-authorization': 'the-secret-of-the-router' };
  let app: TestApp;
  beforeAll(async () => {
    app = await startInSandboxMode({
      attestation,
      attestationKeys: [first],
      routerSecrets: [router['router-authorization']],
      trustedHeaders: { subject: 'x-user-id', scopes: undefined },
    });
  });
  afterAll(() => app.stop());
  const NAMED_BANK = { audience: 'bank', action: 'pay' };
  async function validate(audience: object, headers: Record<string, string>) {
    const input = { ...(await solveChallenge(String(app.sandboxUrls?.GLB))), ...audience };
    return post(app.graphqlUrl, JSON.stringify({ query: MUTATION, variables: { input } }), headers);
  }

  test.each([
    ['required', NAMED_BANK],
    ['optional', NAMED],
  ])('is the one of the trusted header where it is %s', async (_required, audience) => {
    const { data } = await validate(audience, { ...router, 'x-user-id': 'person-1' });
    const pinned = { audience: audience.audience };
    expect(await verifyAttestation(data.validateCaptcha.attestation, await keysOf(app), pinned)).toMatchObject({
      sub: 'person-1',
      asr: 'verified',
    });
  });

  test('is nobody without the header, or with a malformed one, so it is FORBIDDEN where it is required', async () => {
    for (const headers of [{}, { 'x-user-id': '' }, { 'x-user-id': 'x'.repeat(257) }, { 'x-other': 'person-1' }]) {
      const { data, errors } = await validate(NAMED_BANK, { ...router, ...headers });
      expect(data).toEqual({ validateCaptcha: null });
      expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
    }
    const { data } = await validate(NAMED, router);
    expect(partsOf(data.validateCaptcha.attestation).payload).not.toHaveProperty('sub');
  });

  test('is not for a sender without a secret to name, who gets nothing at all', async () => {
    const { status, data } = await validate(NAMED, { 'x-user-id': 'person-1' });
    expect([status, data]).toEqual([401, undefined]);
  });
});
