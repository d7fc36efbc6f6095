import { collectDefaultMetrics, Registry, type RegistryContentType } from 'prom-client';
import type { AttestationRefusal } from '../captcha/attestation-refusals.ts';
import type { Side } from '../errors.ts';
import type { SignalDrift } from '../fingerprint/drift.ts';
import type { JudgementOutcome } from '../fingerprint/judgement-outcomes.ts';
import type { Bulkhead } from '../upstream/bulkhead.ts';
import { HEALTH_STATES } from '../upstream/finding.ts';
import type { AccountHealth } from '../upstream/health.ts';
import type { QuotaState } from '../upstream/quota.ts';
import { type CountedDecision, DecisionCounter, type DecisionLabels } from './decision-counter.ts';
import { DurationBuffer } from './duration-buffer.ts';
import { LabelCounter } from './label-counter.ts';
import { defineMetrics } from './metric-definitions.ts';
import { createRenderer, type RenderedMetrics } from './render-metrics.ts';

/** Counts what happens in this process, for Prometheus to read. */
export interface Metrics {
  /** Everything counted so far, in the format that this `Accept` header prefers. */
  readonly render: (accept: string | undefined) => Promise<RenderedMetrics>;
  readonly operationStarted: () => void;
  /** To be called for every operation that started, even if its request turns out not to be one. */
  readonly operationEnded: () => void;
  readonly recordOperation: (operation: FinishedOperation) => void;
  /** A request that was refused before it became an operation, by its code of `errors.ts`. */
  readonly recordRefusal: (code: string) => void;
  /** An upstream call that was made: `ok`, `http_429`, `http_4xx`, `http_5xx` or a code of `errors.ts`, after this many ms. */
  readonly recordCall: (service: string, region: string, outcome: string, ms: number) => void;
  /** A signal of a judgement; without a code if the catalogue does not have it. `drift` says how it differs from the catalogue. */
  readonly recordSignal: (code: string | null | undefined, level: string, drift: SignalDrift | undefined) => void;
  /** A decision of the risk policy, or what one of its shadow rules would have decided. */
  readonly recordDecision: (decision: CountedDecision, isShadow: boolean) => void;
  /** Reads the labels of the rules of the policy in use whenever Prometheus reads. Other rules have no series. */
  readonly watchPolicy: (rules: () => readonly DecisionLabels[]) => void;
  /** The outcome of a captcha verification, with its cause if it has one. */
  readonly recordVerdict: (verdict: Verdict, cause: string) => void;
  /** Arguments of the metadata that did not count, because a trusted header carries the same; 0 creates the counter. */
  readonly recordDroppedMetadata: (key: string, count: number) => void;
  /** Attestations for an audience that were issued; 0 creates the counter. */
  readonly recordAttestation: (audience: string, assurance: string, count: number) => void;
  readonly recordAttestationRefusal: (reason: AttestationRefusal) => void;
  /** A judgement that was sealed, opened, or could not be opened. */
  readonly recordJudgement: (outcome: JudgementOutcome) => void;
  /** An upstream call that was refused because its quota is used up. */
  readonly recordQuotaRefusal: (service: string, window: string) => void;
  /** Is the store of the quotas away? */
  readonly recordQuotaStore: (isAway: boolean) => void;
  /** Reads the limits of a service's quota, and what is left of them, whenever Prometheus reads. */
  readonly watchQuota: (service: string, states: () => Iterable<readonly [window: string, QuotaState]>) => void;
  /** Reads what a service's bulkheads hold, one for each region, whenever Prometheus reads. */
  readonly watchBulkheads: (
    service: string,
    bulkheads: () => Iterable<readonly [region: string, Pick<Bulkhead, 'inFlight' | 'queued' | 'maxInFlight'>]>,
  ) => void;
  /** Reads the health of a service's accounts whenever Prometheus reads. Accounts that a rotation has removed are left out. */
  readonly watchHealth: (service: string, all: () => Iterable<AccountHealth>) => void;
  /** Probes have confirmed that the service is down for this account. */
  readonly recordOutage: (health: AccountHealth) => void;
  /** A probe that was sent, and what it has shown. */
  readonly recordProbe: (service: string, region: string, result: string) => void;
  /** Reads whether readiness succeeds, whenever Prometheus reads. */
  readonly watchReadiness: (isReady: () => boolean) => void;
  /** A connection that had brought no operation was closed for a newer one. */
  readonly recordEviction: () => void;
}

interface FinishedOperation {
  /** The name of who sent it: `router`, `anyone` or a configured service. */
  readonly caller: string;
  readonly ms: number;
  readonly outcome: 'ok' | 'partial' | 'error';
  /** Its field of the root type, `several`, `introspection`, or `none` if no valid document contained it. */
  readonly field: string;
  /** The code of each error in the response. */
  readonly errors: readonly string[];
  /** Who has to act on its errors; undefined without errors. */
  readonly side: Side | undefined;
  /** How many device tokens it asked about. */
  readonly lookups: number;
  /** The id of its trace, if that is exported. */
  readonly traceId: string | undefined;
}

/** What is counted of a captcha verification. */
interface Verdict {
  readonly __typename: string;
  readonly proceed: boolean;
}

/** Metrics in a registry of their own, with those of the process: memory, CPU time, event-loop lag. */
export function createMetrics(): Metrics {
  // Only such a registry takes exemplars. `createRenderer` renders it in both formats.
  const registry = new Registry<RegistryContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  collectDefaultMetrics({ register: registry });
  const metrics = defineMetrics(registry);

  // What happens in every request is counted here, and moved into the metrics before they are read.
  const operationSeconds = new DurationBuffer<Record<'field' | 'outcome', string>>(metrics.operationSeconds);
  const callSeconds = new DurationBuffer<Record<'service' | 'region' | 'outcome', string>>(metrics.callSeconds);
  const operations = new LabelCounter();
  const signals = new LabelCounter();
  const decisions = new DecisionCounter(metrics.decisions);
  let operationsInFlight = 0;
  let lookups = 0;
  let fingerprintCalls = 0;
  // Kept with the account and not in the metric, so that the series of a removed account goes with it.
  const outages = new WeakMap<AccountHealth, number>();

  function flush(): void {
    operationSeconds.flush();
    callSeconds.flush();
    operations.drain((caller, outcome, count) => metrics.operations.inc({ caller, outcome }, count));
    signals.drain((code, level, count) => metrics.signals.inc({ code, level }, count));
    metrics.operationsInFlight.set(operationsInFlight);
    metrics.lookups.inc(lookups);
    metrics.fingerprintCalls.inc(fingerprintCalls);
    lookups = 0;
    fingerprintCalls = 0;
    // A rotation can remove an account, and otherwise its series would stay as they were.
    for (const metric of [metrics.health, metrics.hasWorked, metrics.outages]) metric.reset();
  }
  const beforeRender = [flush];

  return {
    render: createRenderer(registry, () => {
      for (const update of beforeRender) update();
    }),
    operationStarted: () => {
      operationsInFlight += 1;
    },
    operationEnded: () => {
      operationsInFlight -= 1;
    },
    recordOperation: (operation) => {
      const { caller, field, outcome, side, traceId } = operation;
      operations.increment(caller, outcome);
      operationSeconds.add({ field, outcome }, operation.ms / 1_000, traceId);
      if (side !== undefined) metrics.failures.inc({ side });
      lookups += operation.lookups;
      for (const code of operation.errors) metrics.errors.inc({ code });
    },
    recordRefusal: (code) => metrics.refusals.inc({ code }),
    recordCall: (service, region, outcome, ms) => {
      callSeconds.add({ service, region, outcome }, ms / 1_000);
      if (service === 'fingerprint') fingerprintCalls += 1;
    },
    recordSignal: (code, level, drift) => {
      signals.increment(code ?? 'unknown', level);
      if (drift) metrics.drift.inc({ kind: drift });
    },
    recordDecision: (decision, isShadow) => decisions.increment(decision, isShadow),
    watchPolicy: (rules) => beforeRender.push(() => decisions.flush(rules())),
    recordVerdict: ({ __typename: type, proceed }, cause) =>
      metrics.verdicts.inc({ type, cause, proceed: `${proceed}` }),
    recordDroppedMetadata: (key, count) => metrics.droppedMetadata.inc({ key }, count),
    recordAttestation: (audience, assurance, count) => metrics.attestations.inc({ audience, assurance }, count),
    recordAttestationRefusal: (reason) => metrics.attestationRefusals.inc({ reason }),
    recordJudgement: (outcome) => metrics.judgements.inc({ outcome }),
    recordQuotaRefusal: (service, window) => metrics.quotaRefusals.inc({ service, window }),
    recordQuotaStore: (isAway) => metrics.quotaStoreAway.set(Number(isAway)),
    watchQuota: (service, states) => {
      beforeRender.push(() => {
        for (const [window, { limit, left }] of states()) {
          metrics.quotaLimit.set({ service, window }, limit);
          metrics.quotaRemaining.set({ service, window }, left);
        }
      });
    },
    watchBulkheads: (service, bulkheads) => {
      beforeRender.push(() => {
        for (const [region, { inFlight, queued, maxInFlight }] of bulkheads()) {
          metrics.callsInFlight.set({ service, region }, inFlight);
          metrics.callsLimit.set({ service, region }, maxInFlight);
          metrics.callsQueued.set({ service, region }, queued);
        }
      });
    },
    watchHealth: (service, all) => {
      beforeRender.push(() => {
        for (const health of all()) {
          const { account, finding, probe } = health;
          const ids = { service, region: probe.region, account };
          for (const state of HEALTH_STATES) metrics.health.set({ ...ids, state }, Number(state === finding.state));
          metrics.hasWorked.set(ids, Number(finding.hasWorked));
          metrics.outages.inc(ids, outages.get(health) ?? 0);
        }
      });
    },
    recordOutage: (health) => outages.set(health, (outages.get(health) ?? 0) + 1),
    recordProbe: (service, region, result) => metrics.probes.inc({ service, region, result }),
    watchReadiness: (isReady) => {
      beforeRender.push(() => metrics.ready.set(Number(isReady())));
    },
    recordEviction: () => metrics.evictions.inc(),
  };
}
