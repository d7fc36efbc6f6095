import { createHash, generateKeyPairSync } from 'node:crypto';

/** A key of ATTESTATION_KEYS: a private JWK (RFC 7518, section 6.2) with its id and its place in the rotation. */
export interface AttestationKey {
  readonly kid: string;
  /** `active` signs. `next` and `retired` are only published, so that verifiers know them before and after. */
  readonly state: 'next' | 'active' | 'retired';
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
  readonly d: string;
}

/** Makes a fresh key. Its id is its thumbprint (RFC 7638), so no two keys have the same. */
export function generateKey(state: AttestationKey['state']): AttestationKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '', d = '' } = privateKey.export({ format: 'jwk' });
  // Section 3.3 of RFC 7638 prescribes these members in this order.
  const thumbprint = createHash('sha256').update(JSON.stringify({ crv: 'P-256', kty: 'EC', x, y }));
  return { kid: thumbprint.digest('base64url'), state, kty: 'EC', crv: 'P-256', x, y, d };
}
