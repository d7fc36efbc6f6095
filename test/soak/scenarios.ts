import { eventLoop } from './event-loop.ts';
import type { Scenario } from './findings.ts';
import { memory } from './memory.ts';
import { outage } from './outage.ts';
import { overloadCaptcha, overloadFingerprint } from './overload.ts';
import { replicas } from './replicas.ts';

/** In the order of the run. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'overload-fingerprint': overloadFingerprint,
  'overload-captcha': overloadCaptcha,
  outage,
  replicas,
  memory,
  'event-loop': eventLoop,
};
