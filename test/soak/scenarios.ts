import type { Scenario } from './findings.ts';
import { outage } from './outage.ts';
import { overloadCaptcha, overloadFingerprint } from './overload.ts';

/** In the order of the run. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'overload-fingerprint': overloadFingerprint,
  'overload-captcha': overloadCaptcha,
  outage,
};
