import type { MetricsRegistry } from '../observability/metrics.ts';
import type { CaptchaFailureCategory, CaptchaIndeterminateCause } from '../schema.generated.ts';
import { PASS_DRIFTS } from './contract.ts';
import type { CaptchaVerdict } from './verdict.ts';

const REFUSALS = ['incomplete', 'audience', 'action', 'captcha_id', 'subject'] as const;
export type AttestationRefusal = (typeof REFUSALS)[number];

/** Was the captcha verified, or let through in an outage? */
export const ASSURANCES = ['verified', 'unverified'] as const;
export type Assurance = (typeof ASSURANCES)[number];

export type CaptchaMetrics = ReturnType<typeof createCaptchaMetrics>;

export function createCaptchaMetrics({ counter, counterOf }: MetricsRegistry) {
  const verdicts = counter('captcha_outcomes_total', 'Captcha verifications, by outcome', 'type', 'cause', 'proceed');
  const limited = counter('captcha_limited_total', 'Captchas refused because the outage budget was used up');
  const attested = counter('attestations_total', 'Attestations, by audience and assurance', 'audience', 'assurance');
  const refused = 'Attestations that were refused, by reason';
  const drift = 'Passes without a documented field, or with another kind of value, by field';
  for (const cause of ['CLIENT', 'CONFIGURATION', 'SERVICE', 'TRANSPORT'])
    verdicts.inc({ type: 'CaptchaIndeterminate', cause, proceed: 'true' }, 0);
  verdicts.inc({ type: 'CaptchaFailed', cause: 'ILLEGAL_SIGN_TOKEN', proceed: 'false' }, 0);

  return {
    recordVerdict: (verdict: CaptchaVerdict) =>
      verdicts.inc({ type: verdict.__typename, cause: causeOf(verdict), proceed: `${verdict.proceed}` }),
    recordLimitedCaptcha: () => limited.inc(),
    recordDrift: counterOf('captcha_drift_total', drift, 'kind', PASS_DRIFTS),
    recordAttestation: (audience: string, assurance: Assurance, count: number) =>
      attested.inc({ audience, assurance }, count),
    recordAttestationRefusal: counterOf('attestation_refusals_total', refused, 'reason', REFUSALS),
  };
}

function causeOf(verdict: CaptchaVerdict): CaptchaFailureCategory | CaptchaIndeterminateCause | '' {
  if (verdict.__typename === 'CaptchaPassed') return '';
  return verdict.__typename === 'CaptchaFailed' ? verdict.category : verdict.cause;
}
