/** The keys of sandbox mode, the same after each restart. They are public here, so live mode refuses them. */

const bytes = Buffer.from('public-sandbox-key-worth-nothing').toString('base64url');
const x = 'pxZZBNO8zzb3AyHiP-W5L2D6YjBpERrZJ2zsf9BTSao';
const y = '7_XWnhXH2ORi8cG0IpxIOSug7wXmwDDyA7kphCrQ8kU';

export const SANDBOX_SEALING_KEY = { kty: 'oct', k: bytes, kid: 'sandbox' } as const;
export const SANDBOX_ATTESTATION_KEY = {
  kid: 'sandbox',
  state: 'active',
  kty: 'EC',
  crv: 'P-256',
  x,
  y,
  d: bytes,
} as const;
