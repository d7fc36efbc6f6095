/** Series in promtool's words, and those of a deployment with which nothing is wrong. */

/** Values of a series in promtool's words, one a minute for 30 hours: from `start`, `step` more each time. */
export type Series = Readonly<Record<string, string>>;
export const steady = (value: number) => `${value}+0x1800`;
export const growing = (aMinute: number) => `0+${aMinute}x1800`;
/** A counter that is 0 until minute 30 and 1 from then on, and one that is born with the 1. */
export const ONCE = '0+0x29 1+0x30';
export const BORN = '_x30 1+0x30';

export const EU = 'service="captcha",region="EU"';
export const DAY = 'service="captcha",window="day"';
export const SECOND = 'service="captcha",window="second"';
/** The health of one account of the captcha service, as replica `a` or another one shows it: the same state all the time. */
export const accountOf = (state: string, { hasWorked = 1, instance = 'a' } = {}): Series => {
  const ids = `job="device-trust",instance="${instance}",${EU},account="c"`;
  const states = ['unknown', 'well', 'refused', 'outage'].map((each) => [
    `device_trust_upstream_health{${ids},state="${each}"}`,
    steady(Number(each === state)),
  ]);
  return { ...Object.fromEntries(states), [`device_trust_upstream_has_worked{${ids}}`]: steady(hasWorked) };
};
export const OUTAGES = `device_trust_upstream_outages_total{job="device-trust",instance="a",${EU},account="c"}`;
export const calls = (result: string) => `device_trust_upstream_duration_seconds_count{${EU},outcome="${result}"}`;
export const FAILED = 'device_trust_operations_failed_total{side="operator"}';
export const refused = (code: string) => `device_trust_requests_refused_total{code="${code}"}`;
export const decided = (action: string) => `device_trust_decisions_total{action="${action}",rule="r",shadow="false"}`;
export const INDETERMINATE = 'CaptchaIndeterminate';
export const outcome = (type: string, cause: string, proceed: boolean) =>
  `device_trust_captcha_outcomes_total{type="${type}",cause="${cause}",proceed="${proceed}"}`;

/** Nothing is wrong: three replicas answer 10 operations a second, and some callers make mistakes. */
export const HEALTHY: Series = {
  ...Object.fromEntries(
    ['a', 'b', 'c'].flatMap((instance) => [
      [`up{job="device-trust",instance="${instance}"}`, steady(1)],
      [`process_start_time_seconds{job="device-trust",instance="${instance}"}`, steady(100)],
      [`nodejs_eventloop_lag_p99_seconds{job="device-trust",instance="${instance}"}`, steady(0.012)],
    ]),
  ),
  'up{job="orders",instance="d"}': steady(0),
  'device_trust_operation_duration_seconds_bucket{outcome="ok",le="0.5"}': growing(600),
  'device_trust_operation_duration_seconds_bucket{outcome="ok",le="2"}': growing(600),
  'device_trust_operation_duration_seconds_bucket{outcome="ok",le="3"}': growing(600),
  'device_trust_operation_duration_seconds_bucket{outcome="ok",le="+Inf"}': growing(600),
  'device_trust_operation_duration_seconds_count{outcome="ok"}': growing(600),
  [FAILED]: steady(3),
  'device_trust_operations_failed_total{side="upstream"}': growing(30),
  // The mistakes of callers use up no budget of ours.
  'device_trust_operations_failed_total{side="caller"}': growing(300),
  [refused('OVERLOADED')]: steady(3),
  [decided('ALLOW')]: growing(300),
  [decided('DENY')]: growing(3),
  'device_trust_decisions_total{action="DENY",rule="new",shadow="true"}': growing(300),
  ...Object.fromEntries(
    ['a', 'b', 'c'].map((instance) => [`device_trust_ready{job="device-trust",instance="${instance}"}`, steady(1)]),
  ),
  ...accountOf('well'),
  ...accountOf('well', { instance: 'b' }),
  [OUTAGES]: steady(3),
  [outcome(INDETERMINATE, 'TRANSPORT', true)]: steady(0),
  device_trust_connections_evicted_total: steady(40),
  [`device_trust_upstream_duration_seconds_count{${EU},outcome="ok"}`]: growing(600),
  [`device_trust_upstream_duration_seconds_count{${EU},outcome="http_4xx"}`]: growing(100),
  [outcome('CaptchaPassed', '', true)]: growing(600),
  [outcome(INDETERMINATE, 'CLIENT', false)]: growing(600),
  [`device_trust_quota_limit{${DAY}}`]: steady(1_000_000),
  [`device_trust_quota_remaining{${DAY}}`]: steady(500_000),
  [`device_trust_quota_refused_total{${DAY}}`]: steady(3),
  // A burst of calls now and then is refused by the limit of a second, and nobody has to act.
  [`device_trust_quota_refused_total{${SECOND}}`]: growing(1),
  device_trust_quota_store_away: steady(0),
  'device_trust_judgements_total{outcome="opened"}': growing(60),
  'device_trust_errors_total{code="BAD_USER_INPUT"}': growing(60),
  'device_trust_requests_refused_total{code="BAD_REQUEST"}': growing(60),
};

/** A counter of calls, one value each half hour for nine days, on each of which there are that many times as many. */
export function grownBy(factor: number): string {
  let total = 0;
  const values = Array.from({ length: 9 * 48 }, (_, at) => {
    total += 10_000 * factor ** Math.floor(at / 48);
    return Math.round(total);
  });
  return values.join(' ');
}
