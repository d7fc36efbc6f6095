// Recipe 0.8.0: the release that changed it last. Needs jose 6.1 or later.
import { createRemoteJWKSet, customFetch, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose';

/** The origin of captcha attestations, and those that this service accepts. */
export interface AttestationConfig {
  /** `/.well-known/jwks.json` of the device-trust subgraph, and the issuer that is configured there. */
  readonly jwksUrl: string;
  readonly issuer: string;
  readonly audience: string;
  /** With `optional`, an attestation that names no person is good for everybody. */
  readonly subject: 'required' | 'optional';
}

/**
 * Insert `jti` under a unique constraint, in the transaction that acts, and keep it for `MEMORY_S`. Otherwise a proof can be used several
 * times.
 */
export interface Proof {
  readonly jti: string;
  readonly assurance: 'verified' | 'unverified';
}

/** How long each `jti` is kept, in s. A minute more than a proof is good for, because clocks can differ by 5 s on each side. */
export const MEMORY_S = 300;
/** Longer than any attestation, in characters. */
const MAX_LENGTH = 2_048;
const CLAIMS = ['iss', 'aud', 'action', 'assurance', 'captcha_id', 'jti', 'iat', 'exp'];
/** jose's codes for a token that is wrong. Any other error is about the keys, and says nothing about the token. */
const WRONG_TOKEN = /^ERR_(JWT_|JWS_|JOSE_(ALG_NOT_ALLOWED|NOT_SUPPORTED)|JWKS_(NO|MULTIPLE)_MATCHING_KEY)/;

type Verify = (token: string, action: string, person: string) => Promise<Proof | 'INVALID' | 'EXPIRED'>;

/**
 * Verifies tokens for this action and person, of one issuer or several, such as one in each region. Rejects if the keys cannot be
 * fetched, or if the token's key is unknown and the last fetch is less than 30 s ago: neither is a proof, so let the client try again.
 */
export function createVerifier(...issuers: readonly AttestationConfig[]): Verify {
  const verifiers = new Map(issuers.map((config) => [config.issuer, createVerifierOf(config)]));
  return async (token, action, person) => {
    if (token.length > MAX_LENGTH) return 'INVALID';
    return verifiers.get(claimedIssuer(token))?.(token, action, person) ?? 'INVALID';
  };
}

/** Not verified yet: it only chooses the keys, and that issuer's verifier accepts no other. */
function claimedIssuer(token: string): string {
  try {
    return decodeJwt(token).iss ?? '';
  } catch {
    return '';
  }
}

function createVerifierOf({ jwksUrl, issuer, audience, subject }: AttestationConfig): Verify {
  let triedAt = Number.NEGATIVE_INFINITY;
  const keys = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: 3_000,
    // After a failure jose itself would fetch again for each forged token.
    [customFetch]: async (url, options) => {
      if (Date.now() - triedAt < (keys.fresh ? 30_000 : 1_000))
        throw new Error('the keys could not be fetched just now');
      return fetch(url, options).finally(() => {
        triedAt = Date.now();
      });
    },
  });
  // Nothing of this is up to the token (RFC 8725).
  const pinned = { algorithms: ['ES256'], typ: 'captcha-attestation+jwt', issuer, audience };
  const times = { clockTolerance: 5, maxTokenAge: MEMORY_S - 60 }; // s
  const requiredClaims = subject === 'required' ? [...CLAIMS, 'sub'] : CLAIMS;

  function proofOf(claims: JWTPayload, action: string, person: string): Proof | 'INVALID' {
    const { aud, sub, assurance, jti } = claims;
    const isForThis = aud === audience && claims['action'] === action && (sub === undefined || sub === person);
    const isKnown = assurance === 'verified' || assurance === 'unverified';
    return isForThis && isKnown && typeof jti === 'string' ? { jti, assurance } : 'INVALID';
  }

  return async (token, action, person) => {
    // Meanwhile jose does not fetch an unknown key, although it may have been published by now.
    const { coolingDown } = keys;
    try {
      const { payload } = await jwtVerify(token, keys, { ...pinned, ...times, requiredClaims });
      return proofOf(payload, action, person);
    } catch (error) {
      if (error instanceof errors.JWTExpired) return 'EXPIRED';
      if (error instanceof errors.JWKSNoMatchingKey && coolingDown) throw error;
      if (error instanceof errors.JOSEError && WRONG_TOKEN.test(error.code)) return 'INVALID';
      throw error;
    }
  };
}
