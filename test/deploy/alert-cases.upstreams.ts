import type { Case } from './alert-case.ts';
import {
  accountOf,
  BORN,
  calls,
  DAY,
  EU,
  growing,
  grownBy,
  INDETERMINATE,
  ONCE,
  OUTAGES,
  outcome,
  SECOND,
} from './alert-series.ts';

/** The cases of the rules about the accounts of both services, their failures, and what may be spent there. */
export const UPSTREAM_CASES: Readonly<Record<string, readonly Case[]>> = {
  DeviceTrustAccountRefused: [
    { when: 'every replica is refused', series: accountOf('refused', { hasWorked: 0 }), silent: 1, fires: 3 },
    {
      when: 'an account that has worked is disabled, and only one replica has called it since',
      series: accountOf('refused'),
      silent: 1,
      fires: 3,
    },
  ],
  DeviceTrustAccountNeverWorked: [
    {
      when: 'no replica has got an answer since it started',
      series: { ...accountOf('outage', { hasWorked: 0 }), ...accountOf('outage', { hasWorked: 0, instance: 'b' }) },
      silent: 4,
      fires: 6,
    },
  ],
  DeviceTrustAccountUnknown: [
    {
      when: 'the probes of one replica prove nothing',
      series: accountOf('unknown', { hasWorked: 0 }),
      silent: 9,
      fires: 11,
    },
  ],
  DeviceTrustOutage: [
    {
      when: 'a service that has worked is down',
      series: { ...accountOf('outage'), ...accountOf('outage', { instance: 'b' }) },
      silent: 1,
      fires: 3,
    },
    {
      when: 'the probes are inconclusive now and then',
      series: {
        [`device_trust_upstream_health{job="device-trust",instance="a",${EU},account="c",state="outage"}`]:
          '0+0x29 1 1 0 1 1 0 1 1 0 1+0x20',
      },
      silent: 31,
      fires: 38,
    },
    {
      when: 'a replica has been started meanwhile, and has never seen it work',
      series: { ...accountOf('outage'), ...accountOf('outage', { hasWorked: 0, instance: 'b' }) },
      silent: 1,
      fires: 3,
    },
  ],
  DeviceTrustShortOutages: [
    {
      when: 'there are two within an hour that no scrape sees',
      series: { [OUTAGES]: '3+0x29 4+0x19 5+0x20' },
      silent: 49,
      fires: 51,
    },
  ],
  DeviceTrustFailureBurst: [
    {
      when: '40 ms of 503 at 800 calls a second are over before a scrape',
      series: { [calls('http_5xx')]: '0+0x29 32+0x30' },
      silent: 29,
      fires: 31,
    },
    {
      when: 'the first failures of a replica are such a burst',
      series: { [calls('http_5xx')]: '_x30 32+0x30' },
      silent: 29,
      fires: 32,
    },
    {
      when: 'there is a burst every ten minutes',
      series: { [calls('UPSTREAM_UNAVAILABLE')]: '0+0x9 32+0x9 64+0x9 96+0x30' },
      silent: 29,
      fires: 31,
    },
  ],
  DeviceTrustUpstreamErrors: [
    {
      when: 'an eighth of the calls time out',
      series: { [calls('UPSTREAM_TIMEOUT')]: growing(100) },
      earlier: ['DeviceTrustFailureBurst'],
      silent: 4,
      fires: 10,
    },
    {
      when: 'an eighth of the answers is a 5xx',
      series: { [calls('http_5xx')]: growing(100) },
      earlier: ['DeviceTrustFailureBurst'],
      silent: 4,
      fires: 10,
    },
  ],
  DeviceTrustUpstreamRejected: [ONCE, BORN].map((values) => ({
    when: `it happens once (${values})`,
    series: { 'device_trust_errors_total{code="UPSTREAM_REJECTED"}': values },
    silent: 29,
    fires: 32,
  })),
  DeviceTrustSignToken: [ONCE, BORN].map((values) => ({
    when: `it happens once (${values})`,
    series: { [outcome('CaptchaFailed', 'ILLEGAL_SIGN_TOKEN', false)]: values },
    silent: 29,
    fires: 32,
  })),
  DeviceTrustRateLimited: [
    {
      when: 'a service answers 429 once a minute',
      series: { [calls('http_429')]: growing(1) },
      silent: 4,
      fires: 10,
    },
    {
      when: 'one account is answered 429 for 6.5 minutes, with pauses of a minute, for the first time',
      series: { [calls('http_429')]: '_x30 1+1x6 7+0x30' },
      silent: 33,
      fires: 38,
    },
  ],
  DeviceTrustQuotaExceeded: [
    {
      when: 'ten calls a minute are refused',
      series: { [`device_trust_quota_refused_total{${SECOND}}`]: growing(10) },
      silent: 4,
      fires: 10,
    },
    {
      when: 'the quota of the day is used up, and one call in two minutes is refused',
      series: { [`device_trust_quota_refused_total{${DAY}}`]: '3+0x29 4 4 5 5 6 6 7 7 8 8 9 9 10+0x30' },
      silent: 29,
      fires: 37,
    },
  ],
  DeviceTrustQuotaNearlyUsed: [
    {
      when: 'a twentieth of the day is left',
      series: { [`device_trust_quota_remaining{${DAY}}`]: '110000+0x29 50000+0x30' },
      silent: 29,
      fires: 31,
    },
  ],
  DeviceTrustQuotaStoreAway: [
    {
      when: 'it is away for more than 10 minutes',
      series: { device_trust_quota_store_away: '0+0x29 1+0x30' },
      silent: 39,
      fires: 41,
    },
  ],
  DeviceTrustSpendRises: [
    {
      when: 'there are twice as many calls as at the same hour of the day before',
      series: {
        [calls('ok')]: '0+6000x143 863400+13000x36',
      },
      everyMinutes: 10,
      silent: 1_500,
      fires: 1_570,
    },
  ],
  DeviceTrustSpendGrows: [
    {
      when: 'there are 6 % more calls on each day than on the day before',
      series: { [calls('ok')]: grownBy(1.06) },
      everyMinutes: 30,
      // The seventh day has no day of a week before, and a day later the rise is 50 %.
      silent: 7 * 1_440 + 60,
      fires: 8 * 1_440 + 120,
    },
  ],
  DeviceTrustUnverifiedPasses: [ONCE, BORN].map((values) => ({
    when: `one captcha proceeds without a verdict (${values})`,
    series: { [outcome(INDETERMINATE, 'SERVICE', true)]: values },
    silent: 29,
    fires: 32,
  })),
};
