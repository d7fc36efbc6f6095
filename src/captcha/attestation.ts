import { createHash, createHmac, createPrivateKey, generateKeyPairSync, hkdfSync } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { SignJWT } from 'jose/jwt/sign';
import { badUserInput, DeviceTrustError, notConfigured } from '../errors.ts';
import type { ValidateCaptchaInput } from '../schema.generated.ts';
import { ASSURANCES, type Assurance, type AttestationRefusal, type CaptchaMetrics } from './metrics.ts';
import type { Captcha } from './request.ts';
import type { CaptchaSettings } from './settings.ts';
import type { CaptchaVerdict } from './verdict.ts';

/** A key of ATTESTATION_KEYS. Only the `active` key signs. All are published: verifiers need a key before and after it signs. */
export type AttestationKey = CaptchaSettings['attestationKeys'][number];

/** Makes a fresh key. Its id is its thumbprint (RFC 7638), so no two keys share an id. */
export function generateKey(state: AttestationKey['state']): AttestationKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '', d = '' } = privateKey.export({ format: 'jwk' });
  // Section 3.3 of RFC 7638 prescribes these members in this order.
  const thumbprint = createHash('sha256').update(JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }));
  return { kid: thumbprint.digest('base64url'), state, kty: 'EC', crv: 'P-256', x, y, d };
}

/** The type of every attestation. Verifiers refuse a token of another type (RFC 8725, section 3.11). */
const TYPE = 'captcha-attestation+jwt';

/** Creates a signer for the active key, and a JWK set with the public part of every key (RFC 7517, section 5). */
function createSigner(keys: readonly AttestationKey[]) {
  const active = keys.find(({ state }) => state === 'active');
  if (!active) throw new Error('expected an active key, but got none');
  const { kid, kty, crv, x, y, d } = active;
  const key = createPrivateKey({ key: { kty, crv, x, y, d }, format: 'jwk' });
  const header = { alg: 'ES256', typ: TYPE, kid };
  const publicParts = keys.map(({ kid, kty, crv, x, y }) => ({ kty, crv, x, y, kid, alg: 'ES256', use: 'sig' }));
  return {
    sign: (claims: JWTPayload) => new SignJWT(claims).setProtectedHeader(header).sign(key),
    jwks: JSON.stringify({ keys: publicParts }),
  };
}

type CaptchaAccount = Pick<Captcha, 'id' | 'captchaKey'>;

/** Issues signed proofs of captchas to the configured audiences. */
export function createAttestations(
  { attestation: settings, attestationKeys }: Pick<CaptchaSettings, 'attestation' | 'attestationKeys'>,
  findCaptcha: (id: string | null | undefined) => CaptchaAccount | undefined,
  metrics: Pick<CaptchaMetrics, 'recordAttestation' | 'recordAttestationRefusal'>,
) {
  const signer = settings && createSigner(attestationKeys);
  for (const { id } of settings?.audiences ?? [])
    for (const assurance of ASSURANCES) metrics.recordAttestation(id, assurance, 0);

  /**
   * Checks whether a captcha may be attested, before its challenge is consumed. Undefined with neither audience nor action.
   *
   * @returns `attest` resolves with the attestation, or null if the verdict earns none; only its first call signs
   * @throws DeviceTrustError NOT_CONFIGURED, BAD_USER_INPUT, or FORBIDDEN without the person that an audience requires
   */
  function checkAttestation(
    { audience: aud, action, captchaId, lotNumber }: ValidateCaptchaInput,
    subject: string | undefined,
  ) {
    if (aud == null && action == null) return undefined;
    const refused = (reason: AttestationRefusal, error: DeviceTrustError) => {
      metrics.recordAttestationRefusal(reason);
      return error;
    };
    if (!settings || !signer)
      throw refused('audience', notConfigured('Attestations', 'ATTESTATION and ATTESTATION_KEYS'));
    if (aud == null || action == null)
      throw refused('incomplete', badUserInput('input.audience', 'it together with input.action', 'one of them'));
    const audience = settings.audiences.find(({ id }) => id === aud);
    if (!audience)
      throw refused('audience', badUserInput('input.audience', 'a known audience', 'an unknown one', 'ATTESTATION'));
    if (!audience.actions.includes(action))
      throw refused('action', badUserInput('input.action', 'an action of this audience', 'another one', 'ATTESTATION'));
    const captcha = findCaptcha(captchaId);
    if (!captcha || audience.captchaIds?.includes(captcha.id) === false) {
      const got = captchaId == null ? 'none, and the default captcha id is not one of them' : 'another one';
      const where = captcha ? 'ATTESTATION' : 'CAPTCHA_CONFIGURATIONS';
      throw refused('captcha_id', badUserInput('input.captchaId', 'a captcha id of this audience', got, where));
    }
    if (subject === undefined && audience.subject === 'required')
      throw refused('subject', new DeviceTrustError('FORBIDDEN', { message: NO_SUBJECT }));

    const issue = async (verdict: CaptchaVerdict) => {
      const assurance = assuranceOf(verdict);
      if (!assurance) return null;
      const { issuer: iss, lifetimeSeconds } = settings;
      const iat = Math.floor(Date.now() / 1_000);
      const about = { captcha_id: captcha.id, jti: challengeIdOf(captcha, lotNumber) };
      const claims = { iss, aud, action, assurance, ...about, iat, exp: iat + lifetimeSeconds };
      const attestation = await signer.sign(subject === undefined ? claims : { ...claims, sub: subject });
      metrics.recordAttestation(aud, assurance, 1);
      return attestation;
    };
    let issued: Promise<string | null> | undefined;
    return { audience, attest: (verdict: CaptchaVerdict) => (issued ??= issue(verdict)) };
  }

  /** `jwks` is the JWK set as JSON; undefined if no attestations are configured. */
  return { jwks: signer?.jwks, checkAttestation };
}

const NO_SUBJECT =
  'input.audience: expected a request on behalf of a person, but got an anonymous one. If the person has signed in, the router has to send the header of TRUSTED_HEADERS that names them.';

/** The assurance of a verdict; undefined unless the captcha passed, or the allowance for an outage covers it. */
function assuranceOf(verdict: CaptchaVerdict): Assurance | undefined {
  if (verdict.__typename === 'CaptchaPassed') return 'verified';
  return verdict.__typename === 'CaptchaIndeterminate' && verdict.isAllowed ? 'unverified' : undefined;
}

/**
 * The id of a challenge, the same in all of its attestations and on all replicas until its captcha key is replaced: HMAC(HKDF(
 * captcha key), captcha id and lot number). HKDF (RFC 5869) keeps it apart from the signature of a verification, which is
 * HMAC(captcha key, lot number).
 */
function challengeIdOf({ id, captchaKey }: CaptchaAccount, lotNumber: string): string {
  const key = Buffer.from(hkdfSync('sha256', captchaKey, '', 'captcha attestation id', 32));
  return createHmac('sha256', key).update(`${id}\n${lotNumber}`).digest('base64url');
}
