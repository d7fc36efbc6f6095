import type { Case } from './alert-case.ts';
import { OBJECTIVE_CASES } from './alert-cases.objectives.ts';
import { UPSTREAM_CASES } from './alert-cases.upstreams.ts';
import { BORN, growing, ONCE, refused } from './alert-series.ts';

/** The cases of each rule of `deploy/alerts.yaml`. */
export const CASES: Readonly<Record<string, readonly Case[]>> = {
  DeviceTrustGone: [
    {
      when: 'the last replica stops',
      series: Object.fromEntries(
        ['a', 'b', 'c'].map((instance) => [`up{job="device-trust",instance="${instance}"}`, '1+0x29 _x31']),
      ),
      silent: 29,
      fires: 40,
    },
  ],
  DeviceTrustReplicaDown: [
    {
      when: 'one of three stops',
      series: { 'up{job="device-trust",instance="a"}': '1+0x29 0+0x30' },
      silent: 34,
      fires: 36,
    },
  ],
  DeviceTrustRestarts: [
    {
      when: 'one starts for the third time again',
      series: { 'process_start_time_seconds{job="device-trust",instance="a"}': '100+0x29 200+0x4 300+0x4 400+0x20' },
      silent: 36,
      fires: 41,
    },
  ],
  DeviceTrustNoneReady: [
    {
      when: 'every replica has the same mistake',
      series: Object.fromEntries(
        ['a', 'b', 'c'].map((instance) => [
          `device_trust_ready{job="device-trust",instance="${instance}"}`,
          '1+0x29 0+0x30',
        ]),
      ),
      silent: 30,
      fires: 32,
    },
  ],
  DeviceTrustNotReady: [
    {
      when: 'the first replica of a rollout has a mistake in its configuration',
      series: {
        'up{job="device-trust",instance="d"}': '_x30 1+0x30',
        'device_trust_ready{job="device-trust",instance="d"}': '_x30 0+0x30',
      },
      silent: 34,
      fires: 36,
    },
  ],
  ...UPSTREAM_CASES,
  DeviceTrustConnectionsEvicted: [
    {
      when: 'a client opens connections without end',
      series: { device_trust_connections_evicted_total: '40+0x29 50+600x30' },
      silent: 32,
      fires: 37,
    },
  ],
  DeviceTrustUnverifiedAttestations: [
    {
      when: 'one is issued',
      series: { 'device_trust_attestations_total{audience="orders",assurance="unverified"}': ONCE },
      silent: 29,
      fires: 32,
    },
  ],
  DeviceTrustUnverifiedLimit: [
    {
      when: 'one is refused',
      series: { 'device_trust_attestation_refusals_total{reason="unverified_limit"}': ONCE },
      silent: 29,
      fires: 32,
    },
  ],
  ...OBJECTIVE_CASES,
  DeviceTrustSlow: [
    {
      when: 'one in fifty takes longer than every bucket',
      series: {
        'device_trust_operation_duration_seconds_bucket{outcome="ok",le="+Inf"}': growing(613),
      },
      silent: 9,
      fires: 15,
    },
  ],
  DeviceTrustOverloaded: [
    {
      when: 'requests are refused',
      // Too few for the fast burn of the budget, and not long enough for the slow one.
      series: { [refused('OVERLOADED')]: growing(8) },
      silent: 4,
      fires: 10,
    },
    {
      when: 'fields fail',
      series: { 'device_trust_errors_total{code="OVERLOADED"}': growing(10) },
      silent: 4,
      fires: 10,
    },
  ],
  DeviceTrustEventLoopLag: [
    {
      when: 'one replica lags',
      series: { 'nodejs_eventloop_lag_p99_seconds{job="device-trust",instance="a"}': '0.012+0x29 0.15+0x30' },
      silent: 39,
      fires: 41,
    },
  ],
  DeviceTrustUnauthenticated: [
    {
      when: 'ten a minute are refused',
      series: { 'device_trust_requests_refused_total{code="UNAUTHENTICATED"}': growing(10) },
      silent: 4,
      fires: 10,
    },
  ],
  DeviceTrustJudgementsUnreadable: [
    {
      when: 'ten cannot be opened within a minute',
      series: { 'device_trust_judgements_total{outcome="unreadable"}': '0+0x29 10+0x30' },
      silent: 29,
      fires: 32,
    },
  ],
  DeviceTrustInternalError: ['errors', 'requests_refused'].flatMap((what) =>
    [ONCE, BORN].map((values) => ({
      when: `it happens once among ${what} (${values})`,
      series: { [`device_trust_${what}_total{code="INTERNAL_SERVER_ERROR"}`]: values },
      silent: 29,
      fires: 32,
    })),
  ),
  DeviceTrustCatalogueDrift: [ONCE, BORN].map((values) => ({
    when: `it happens once (${values})`,
    series: { 'device_trust_catalogue_drift_total{kind="level"}': values },
    silent: 29,
    fires: 32,
  })),
};
