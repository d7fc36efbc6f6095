import type { Case } from './alert-case.ts';
import { decided, FAILED, growing, refused, type Series } from './alert-series.ts';

/** That many operations a minute take longer than every bucket, beside 600 quick ones. */
const slow = (aMinute: number): Series => ({
  'device_trust_operation_duration_seconds_bucket{outcome="ok",le="+Inf"}': growing(600 + aMinute),
  'device_trust_operation_duration_seconds_count{outcome="ok"}': growing(600 + aMinute),
});

/** The cases of the rules about the objectives (99.9 % of answers, 99 % within 2 s), and about the policy's decisions. */
export const OBJECTIVE_CASES: Readonly<Record<string, readonly Case[]>> = {
  DeviceTrustAvailabilityBurnsFast: [
    {
      when: 'one in fifty operations fails for a reason of ours',
      series: { [FAILED]: growing(12) },
      silent: 2,
      fires: 10,
    },
    {
      when: 'requests are refused because of a mistake in the code, after a good hour',
      series: { [refused('INTERNAL_SERVER_ERROR')]: '0+0x89 0+60x60' },
      earlier: ['DeviceTrustInternalError'],
      silent: 95,
      fires: 125,
      beside: ['DeviceTrustInternalError', 'DeviceTrustAvailabilityBurnsSlowly'],
    },
  ],
  DeviceTrustAvailabilityBurnsSlowly: [
    { when: 'one in a hundred operations fails', series: { [FAILED]: growing(6) }, silent: 14, fires: 20 },
  ],
  DeviceTrustLatencyBurnsFast: [
    {
      when: 'a fifth of the operations is slow',
      series: slow(150),
      silent: 2,
      fires: 6,
    },
  ],
  DeviceTrustLatencyBurnsSlowly: [
    {
      when: 'a tenth of the operations is slow',
      series: slow(70),
      earlier: ['DeviceTrustSlow'],
      silent: 14,
      fires: 20,
      beside: ['DeviceTrustSlow'],
    },
  ],
  DeviceTrustDeniesMore: [
    {
      when: 'a new deployment refuses a third of the devices',
      series: { [decided('DENY')]: growing(150) },
      silent: 9,
      fires: 15,
    },
    {
      when: 'sixteen times as many are refused as on the day before',
      series: { [decided('DENY')]: '0+3x1440 4323+60x300' },
      everyMinutes: 1,
      silent: 1_440,
      fires: 1_475,
    },
    {
      when: 'the first traffic after two hours without any is refused',
      series: { [decided('ALLOW')]: '0+0x120 0+30x60', [decided('DENY')]: '0+0x120 0+30x60' },
      silent: 125,
      fires: 140,
    },
    {
      when: 'the first traffic is refused, and so were the few tries before it',
      series: { [decided('ALLOW')]: '0+0x120 0+30x60', [decided('DENY')]: '0+0x29 0+1x10 10+0x79 10+30x60' },
      silent: 124,
      fires: 140,
    },
  ],
};
