import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { badUserInput, DeviceTrustError } from '../errors.ts';
import type { AttestationRefusal } from '../observability/metrics.ts';
import { SlidingWindow } from '../runtime/sliding-window.ts';
import type { ValidateCaptchaInput } from '../schema.generated.ts';
import type { Accounts } from '../upstream/accounts.ts';
import type { Assurance, AttestationSigner } from './attestation-signer.ts';
import type { CaptchaVerdict } from './verdict.ts';

/** A service that verifies attestations, as `ATTESTATION` configures it. */
interface Audience {
  readonly id: string;
  /** What a person can prove to be allowed to do there. */
  readonly actions: readonly string[];
  /** Must an attestation name the person on whose behalf the caller asked? */
  readonly subject: 'required' | 'optional';
  /** The captcha ids whose challenges count there; every configured one if undefined. */
  readonly captchaIds?: readonly string[] | undefined;
}

export interface AttestationSettings {
  readonly issuer: string;
  readonly lifetimeSeconds: number;
  /** Attestations without a verdict that this process may issue to one audience within any minute. */
  readonly unverifiedPerMinute: number;
  readonly audiences: readonly Audience[];
}

/** The permission to attest one verification, checked before the verification is made. */
export interface AttestationPermit {
  /** The attestation of this verdict; null if it deserves none. The first call signs, and further ones get the same. */
  attest(verdict: CaptchaVerdict): Promise<string | null>;
}

/**
 * Checks whether a verification may be attested. Undefined if the input names no audience.
 *
 * @throws DeviceTrustError BAD_USER_INPUT, or FORBIDDEN without a person where the audience requires one
 */
export type PermitAttestation = (
  input: ValidateCaptchaInput,
  subject: string | undefined,
) => AttestationPermit | undefined;

interface CaptchaAccount {
  readonly captchaId: string;
  readonly captchaKey: string;
}

export interface IssuingOptions {
  readonly captchas: Pick<Accounts<CaptchaAccount>, 'find' | 'default'>;
  /** Called with 1 for each attestation, and at the start with 0 for each audience and assurance. */
  readonly onIssued: (audience: string, assurance: Assurance, count: 0 | 1) => void;
  readonly onRefused: (reason: AttestationRefusal) => void;
  /** The time in ms since 1970. */
  readonly now?: () => number;
}

interface Options extends IssuingOptions {
  /** Undefined if nothing is configured, so that every audience is unknown. */
  readonly settings: AttestationSettings | undefined;
  readonly signer: Pick<AttestationSigner, 'sign'> | undefined;
}

/** Makes the check for the configured audiences. */
export function createPermits(options: Options): PermitAttestation {
  const { settings, signer, captchas, onIssued, onRefused, now = Date.now } = options;
  const audiences = new Map(settings?.audiences.map((audience) => [audience.id, audience]));
  for (const aud of audiences.keys()) for (const asr of ['verified', 'unverified'] as const) onIssued(aud, asr, 0);
  /** One for each audience, so that none of them can use up what another one needs. */
  const unverified = new Map(
    settings?.audiences.map(({ id }) => [id, new SlidingWindow(settings.unverifiedPerMinute, 60_000)]),
  );

  function refusal(reason: AttestationRefusal, error: DeviceTrustError): DeviceTrustError {
    onRefused(reason);
    return error;
  }

  return ({ audience: aud, action: act, captchaId, lotNumber }, sub) => {
    if (aud == null && act == null) return undefined;
    if (aud == null || act == null) {
      throw refusal('incomplete', badUserInput('input.audience', 'it together with input.action', 'one of them'));
    }
    const audience = audiences.get(aud);
    if (!settings || !signer || !audience) {
      throw refusal('audience', badUserInput('input.audience', 'a configured audience', 'an unknown one'));
    }
    if (!audience.actions.includes(act)) {
      throw refusal('action', badUserInput('input.action', 'an action of this audience', 'another one'));
    }
    const captcha = captchas.find(captchaId);
    if (!captcha || audience.captchaIds?.includes(captcha.captchaId) === false) {
      throw refusal('captcha_id', badUserInput('input.captchaId', 'a captcha id of this audience', 'another one'));
    }
    if (sub === undefined && audience.subject === 'required') {
      throw refusal('subject', new DeviceTrustError('FORBIDDEN', { message: NO_SUBJECT }));
    }

    const issue = async (verdict: CaptchaVerdict): Promise<string | null> => {
      const asr = assuranceOf(verdict);
      if (!asr) return null;
      if (asr === 'unverified') {
        // A bot could name whichever captcha id is down, and so avoid the challenge of the one that is well.
        const isExpected = audience.captchaIds !== undefined || captcha.captchaId === captchas.default?.captchaId;
        const isRefused = !isExpected || !unverified.get(aud)?.take();
        if (isRefused) onRefused(isExpected ? 'unverified_limit' : 'unverified_captcha_id');
        if (isRefused) return null;
      }
      const iat = Math.floor(now() / 1_000);
      const { issuer: iss, lifetimeSeconds } = settings;
      const jti = challengeIdOf(captcha, lotNumber);
      const claims = { iss, aud, act, asr, cid: captcha.captchaId, jti, iat, exp: iat + lifetimeSeconds };
      const attestation = await signer.sign(sub === undefined ? claims : { ...claims, sub });
      onIssued(aud, asr, 1);
      return attestation;
    };
    let issued: Promise<string | null> | undefined;
    return {
      attest: (verdict) => {
        issued ??= issue(verdict);
        return issued;
      },
    };
  };
}

const NO_SUBJECT = 'input.audience: expected a request on behalf of a person, but got one that names nobody.';

/**
 * What a verdict is worth; undefined if it deserves no attestation. A fault that is not confirmed deserves none under any
 * policy, because a bot may have caused it. The same is true of a cause that is not the service's own.
 */
export function assuranceOf(verdict: CaptchaVerdict): Assurance | undefined {
  if (!verdict.proceed) return undefined;
  if (verdict.__typename === 'CaptchaPassed') return 'verified';
  if (verdict.__typename !== 'CaptchaIndeterminate' || !verdict.isConfirmed) return undefined;
  return verdict.cause === 'SERVICE' || verdict.cause === 'TRANSPORT' ? 'unverified' : undefined;
}

/** The key of the ids of a captcha's challenges. It is derived once for each account. */
const idKeys = new WeakMap<CaptchaAccount, KeyObject>();

/**
 * The id of a challenge. Whoever inserts it under a unique constraint accepts each challenge once, however many
 * attestations there are of it: in an outage the same challenge can be sent many times.
 *
 * Its key is derived (RFC 5869) from the captcha key. All replicas have that, and a rotation of the signing keys does not
 * change it, so neither of them gives a challenge a second id. Only a new captcha key does: a challenge that was verified
 * under the old one is not verified again, and one of an outage has two ids at most. The derivation keeps the id apart from
 * the signature of a verification, which is an HMAC of the lot number too. Neither part contains a line feed, so no two
 * pairs have the same text.
 */
function challengeIdOf(captcha: CaptchaAccount, lotNumber: string): string {
  const { captchaId, captchaKey } = captcha;
  let key = idKeys.get(captcha);
  if (!key) {
    key = createSecretKey(Buffer.from(hkdfSync('sha256', captchaKey, '', 'captcha attestation id', 32)));
    idKeys.set(captcha, key);
  }
  return createHmac('sha256', key).update(`${captchaId}\n${lotNumber}`).digest('base64url');
}
