import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { ERROR_CATALOGUE } from '../errors.ts';
import { SIGNAL_DRIFTS, type SignalDrift } from '../fingerprint/drift.ts';
import type { PolicyState } from '../upstream/policy.ts';
import { Backlog } from './duration-buffer.ts';
import { Tally } from './label-counter.ts';

/** What Prometheus reads. Labels have few values, none of them a caller's: a token in a label would be a leak, and a bomb. */
export interface Metrics {
  /** In the text format of Prometheus. */
  readonly render: () => Promise<{ contentType: string; text: string }>;
  readonly operationStarted: () => void;
  /** The other end of that, whatever the request turned out to be. */
  readonly operationLeft: () => void;
  readonly operationEnded: (operation: EndedOperation) => void;
  /** A request that became no operation, by its code of `errors.ts`. */
  readonly refused: (code: string) => void;
  readonly callEnded: (service: string, region: string, outcome: string, ms: number) => void;
  /** A signal that was hit. Its code is null if the catalogue does not have it; `drift` is how it differs from the catalogue. */
  readonly signalHit: (code: string | null | undefined, level: string, drift: SignalDrift | undefined) => void;
  readonly verified: (verdict: CountedVerdict) => void;
  /** Shows how the guards of a service stand whenever somebody looks. */
  readonly watchGuards: (service: string, states: () => Iterable<readonly [region: string, PolicyState]>) => void;
}

interface EndedOperation {
  readonly ms: number;
  readonly outcome: 'ok' | 'partial' | 'error';
  readonly errors: readonly string[];
  readonly lookups: number;
}

/** Codes with which a request can be refused before it becomes an operation. */
const REFUSALS = ['BAD_REQUEST', 'UNAUTHENTICATED', 'OVERLOADED', 'INTERNAL_SERVER_ERROR'] as const;

interface CountedVerdict {
  readonly type: string;
  readonly cause: string;
  readonly proceed: boolean;
}

/** From a quick refusal to the longest deadline, in seconds. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Metrics of one process, in a registry of their own. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name: `device_trust_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `device_trust_${name}`, help, labelNames, registers });
  const histogram = (name: string, help: string, labelNames: string[]) =>
    new Histogram({ name: `device_trust_${name}`, help, labelNames, buckets: BUCKETS, registers });

  const duration = histogram('operation_duration_seconds', 'GraphQL operations, by outcome', ['outcome']);
  const inFlight = gauge('operations_in_flight', 'GraphQL operations under way');
  const refusals = counter('requests_refused_total', 'Requests that became no operation, by error code', ['code']);
  const errors = counter('errors_total', 'Errors in answers, by error code', ['code']);
  const calls = histogram('upstream_duration_seconds', 'Upstream calls, by service, region and outcome', [
    'service',
    'region',
    'outcome',
  ]);
  const lookups = counter('fingerprint_lookups_total', 'Tokens that operations asked about');
  const fingerprintCalls = counter('fingerprint_calls_total', 'Calls that those lookups cost');
  const signals = counter('signals_total', 'Signals that were hit', ['code', 'level']);
  const drift = counter('catalogue_drift_total', 'Signals unlike the catalogue', ['kind']);
  const captchas = counter('captcha_outcomes_total', 'Captcha verifications, by outcome', ['type', 'cause', 'proceed']);
  const perGuard = ['service', 'region'];
  const guardInFlight = gauge('upstream_in_flight', 'Upstream calls under way', perGuard);
  const guardQueued = gauge('upstream_queued', 'Upstream calls that wait for one under way to end', perGuard);
  const breakerOpen = gauge('upstream_breaker_open', '1 while the circuit breaker lets nothing through', perGuard);

  // Prometheus sees no increase in a series that begins with 1, and no alert would go off at the first of these.
  for (const code of Object.keys(ERROR_CATALOGUE)) errors.inc({ code }, 0);
  for (const code of REFUSALS) refusals.inc({ code }, 0);
  for (const kind of SIGNAL_DRIFTS) drift.inc({ kind }, 0);

  const hits = new Tally();
  const durations = new Backlog<{ outcome: string }>(duration);
  const callDurations = new Backlog<{ service: string; region: string; outcome: string }>(calls);
  let underWay = 0;
  const pending = { lookups: 0, fingerprintCalls: 0 };
  /** Everything that is only brought up to date when somebody looks. */
  const watched = [
    () => {
      durations.drain();
      callDurations.drain();
      hits.drain((code, level, count) => signals.inc({ code, level }, count));
      inFlight.set(underWay);
      lookups.inc(pending.lookups);
      fingerprintCalls.inc(pending.fingerprintCalls);
      pending.lookups = 0;
      pending.fingerprintCalls = 0;
    },
  ];
  return {
    async render() {
      for (const look of watched) look();
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
    operationStarted: () => {
      underWay += 1;
    },
    operationLeft: () => {
      underWay -= 1;
    },
    operationEnded: ({ ms, outcome, errors: codes, lookups: asked }) => {
      durations.add({ outcome }, ms / 1_000);
      pending.lookups += asked;
      for (const code of codes) errors.inc({ code });
    },
    refused: (code) => refusals.inc({ code }),
    callEnded: (service, region, outcome, ms) => {
      callDurations.add({ service, region, outcome }, ms / 1_000);
      if (service === 'fingerprint') pending.fingerprintCalls += 1;
    },
    signalHit: (code, level, kind) => {
      hits.add(code ?? 'unknown', level);
      if (kind) drift.inc({ kind });
    },
    verified: ({ type, cause, proceed }) => captchas.inc({ type, cause, proceed: String(proceed) }),
    watchGuards: (service, states) => {
      watched.push(() => {
        for (const [region, { inFlight: now, queued, isOpen }] of states()) {
          guardInFlight.set({ service, region }, now);
          guardQueued.set({ service, region }, queued);
          breakerOpen.set({ service, region }, Number(isOpen));
        }
      });
    },
  };
}
