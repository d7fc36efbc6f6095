/** Why no attestation was issued although a request named an audience. These are values of a metric's label. */
export const ATTESTATION_REFUSALS = [
  'incomplete',
  'audience',
  'action',
  'captcha_id',
  'subject',
  'unverified_limit',
  'unverified_captcha_id',
] as const;

export type AttestationRefusal = (typeof ATTESTATION_REFUSALS)[number];
