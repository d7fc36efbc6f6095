import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import packageJson from '../../package.json' with { type: 'json' };
import { ERROR_CATALOGUE, type ErrorCode, type Side } from '../errors.ts';
import { linesDropped } from './logger.ts';

/** How a device can differ from the document, which has one level and one confidence for each signal. */
const DRIFTS = ['unknown_signal', 'level', 'confidence', 'client_type'] as const;
export type Drift = (typeof DRIFTS)[number];

/** What can happen to a judgement. */
const JUDGEMENT_OUTCOMES = ['sealed', 'opened', 'unreadable'] as const;
type JudgementOutcome = (typeof JUDGEMENT_OUTCOMES)[number];

/** Why no attestation was issued although a request named an audience. */
const ATTESTATION_REFUSALS = ['incomplete', 'audience', 'action', 'captcha_id', 'subject'] as const;
export type AttestationRefusal = (typeof ATTESTATION_REFUSALS)[number];

/** The health of an account, as far as the metrics and the log show it. */
interface ReportedHealth {
  readonly account: string;
  readonly status: { readonly state: string; readonly hasWorked: boolean; readonly outages: number };
  readonly prober: { readonly probe: { readonly region: string } };
}

/** What a rule of a risk policy decides. */
interface RuleDecision {
  readonly decision: { readonly action: string; readonly rule: string };
  readonly isShadow: boolean;
}

/** About what it was decided. The event is a word of the policy; undefined for any other. */
interface Decided {
  readonly clientType: string;
  readonly eventType?: string | undefined;
}

/** What is counted of an operation when it ends. */
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
}

/** Counts what happens in this process, for Prometheus to read. */
export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Metrics in a registry of their own, with those of the process: memory, CPU time, event-loop lag. The help text of a metric says
 * what a method records, and a count of 0 creates its counter. What `watch…` is given is read whenever Prometheus reads.
 */
export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const metrics = defineMetrics(registry);
  /** Signals since the metrics were last read: a counter makes a key out of its labels each time, for each of many signals. */
  const signals = new Map<string, Record<string, number>>();
  /** What brings metrics up to date that show a state. */
  const updates: (() => void)[] = [];
  const contents: Record<string, string> = {};
  const countDecision = (
    { decision: { action, rule }, isShadow }: RuleDecision,
    { clientType, eventType = 'other' }: Decided,
    count: number,
  ) =>
    metrics.decisions.inc(
      { action, rule, shadow: `${isShadow}`, client_type: clientType, event_type: eventType },
      count,
    );

  return {
    contentType: registry.contentType,
    /** Everything counted so far, in the text format. */
    render: (): Promise<string> => {
      // A rotation can remove an account, and otherwise its series would stay as they were.
      for (const metric of [metrics.health, metrics.hasWorked, metrics.outages]) metric.reset();
      for (const update of updates) update();
      metrics.time.set(Date.now() / 1_000);
      metrics.contentInfo.reset();
      for (const [content, hash] of Object.entries(contents)) metrics.contentInfo.set({ content, hash }, 1);
      metrics.droppedLines.reset();
      metrics.droppedLines.inc(linesDropped());
      for (const [code, levels] of signals)
        for (const [level, count] of Object.entries(levels)) metrics.signals.inc({ code, level }, count);
      signals.clear();
      return registry.metrics();
    },
    operationStarted: () => metrics.operationsInFlight.inc(),
    operationEnded: () => metrics.operationsInFlight.dec(),
    recordOperation: ({ caller, field, outcome, ms, errors, side, lookups }: FinishedOperation) => {
      metrics.operations.inc({ caller, outcome });
      metrics.operationSeconds.observe({ field, outcome }, ms / 1_000);
      if (side !== undefined) metrics.failures.inc({ side });
      metrics.lookups.inc(lookups);
      for (const code of errors) metrics.errors.inc({ code });
    },
    recordRefusal: (code: string) => metrics.refusals.inc({ code }),
    /** An upstream call that was made: `ok`, `http_429`, `http_4xx`, `http_5xx` or a code of `errors.ts`, after this many ms. */
    recordCall: (service: string, region: string, outcome: string, ms: number) => {
      metrics.callSeconds.observe({ service, region, outcome }, ms / 1_000);
      if (service === 'fingerprint') metrics.fingerprintCalls.inc();
    },
    /** A signal of a judgement; without a code if the catalogue does not have it. */
    recordSignal: (code: string | null | undefined, level: string) => {
      const levels = signals.get(code ?? 'unknown') ?? {};
      if (!(level in levels)) signals.set(code ?? 'unknown', levels);
      levels[level] = (levels[level] ?? 0) + 1;
    },
    recordDrift: (kind: Drift) => metrics.drift.inc({ kind }),
    recordShortenedReport: () => metrics.shortenedReports.inc(),
    /** A decision of the risk policy, or what one of its shadow rules would have decided. */
    recordDecision: (decision: RuleDecision, about: Decided) => countDecision(decision, about, 1),
    /** The rules of the policy in use, so that the first decision of each is an increase. */
    watchPolicy: (rules: () => readonly RuleDecision[], clientTypes: readonly string[]) =>
      updates.push(() => {
        for (const rule of rules()) for (const clientType of clientTypes) countDecision(rule, { clientType }, 0);
      }),
    recordVerdict: ({ __typename: type, proceed }: { __typename: string; proceed: boolean }, cause: string) =>
      metrics.verdicts.inc({ type, cause, proceed: `${proceed}` }),
    recordLimitedCaptcha: () => metrics.limitedCaptchas.inc(),
    recordDroppedMetadata: (key: string, count: number) => metrics.droppedMetadata.inc({ key }, count),
    recordAttestation: (audience: string, assurance: string, count: number) =>
      metrics.attestations.inc({ audience, assurance }, count),
    recordAttestationRefusal: (reason: AttestationRefusal) => metrics.attestationRefusals.inc({ reason }),
    recordJudgement: (outcome: JudgementOutcome) => metrics.judgements.inc({ outcome }),
    recordQuotaExceeded: (service: string, window: string) => metrics.quotaRefusals.inc({ service, window }),
    /** Is the newest content of these files in use? If not, the next start will refuse it. */
    recordNewestInUse: (file: 'secrets' | 'policy', isInUse: boolean) =>
      metrics.newestInUse.set({ file }, Number(isInUse)),
    /** The hash of each content in use. */
    recordContents: (hashes: Readonly<Record<string, string>>) => Object.assign(contents, hashes),
    recordFailedLookup: () => metrics.failedLookups.inc(),
    recordLostSpans: (reason: string, count: number) => metrics.lostSpans.inc({ reason }, count),
    recordQuotaStore: (isAway: boolean) => metrics.quotaStoreAway.set(Number(isAway)),
    watchQuota: (service: string, states: () => Iterable<readonly [window: string, { limit: number; left: number }]>) =>
      updates.push(() => {
        for (const [window, { limit, left }] of states()) {
          metrics.quotaLimit.set({ service, window }, limit);
          metrics.quotaRemaining.set({ service, window }, left);
        }
      }),
    watchBulkheads: (
      service: string,
      bulkheads: () => Iterable<
        readonly [region: string, Readonly<Record<'inFlight' | 'queued' | 'maxInFlight', number>>]
      >,
    ) =>
      updates.push(() => {
        for (const [region, { inFlight, queued, maxInFlight }] of bulkheads()) {
          metrics.callsInFlight.set({ service, region }, inFlight);
          metrics.callsLimit.set({ service, region }, maxInFlight);
          metrics.callsQueued.set({ service, region }, queued);
        }
      }),
    watchHealth: (service: string, states: readonly string[], all: () => Iterable<ReportedHealth>) =>
      updates.push(() => {
        for (const health of all()) {
          const { account, status, prober } = health;
          const ids = { service, region: prober.probe.region, account };
          for (const state of states) metrics.health.set({ ...ids, state }, Number(state === status.state));
          metrics.hasWorked.set(ids, Number(status.hasWorked));
          metrics.outages.inc(ids, status.outages);
        }
      }),
    recordProbe: (service: string, region: string, result: string) => metrics.probes.inc({ service, region, result }),
    watchReadiness: (isReady: () => boolean) => updates.push(() => metrics.ready.set(Number(isReady()))),
    recordEviction: () => metrics.evictions.inc(),
  };
}

/**
 * Upper bounds of the histograms in seconds: from an immediate refusal to beyond the longest deadline. 2 is the objective of
 * latency, and 3 and 5 are the default deadlines, so that a bucket ends at each.
 */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10];

/**
 * The metrics of this subgraph, in that registry. Every label has few values, none of which a client chooses: a token in a
 * label would be a leak, and unbounded values would exhaust the memory of Prometheus.
 */
function defineMetrics(registry: Registry) {
  const registers = [registry];
  const counter = <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter({ name: `device_trust_${name}`, help, labelNames, registers });
  const gauge = <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name: `device_trust_${name}`, help, labelNames, registers });

  const perRegion = ['service', 'region'] as const;
  const perAccount = [...perRegion, 'account'] as const;
  const perWindow = ['service', 'window'] as const;
  const metrics = {
    operationSeconds: new Histogram({
      name: 'device_trust_operation_duration_seconds',
      help: 'Duration of GraphQL operations, by root field and outcome',
      labelNames: ['field', 'outcome'],
      buckets: BUCKETS,
      registers,
    }),
    operations: counter('operations_total', 'GraphQL operations, by caller and outcome', ['caller', 'outcome']),
    failures: counter('operations_failed_total', 'GraphQL operations with an error, by who has to act', ['side']),
    operationsInFlight: gauge('operations_in_flight', 'GraphQL operations in flight'),
    refusals: counter('requests_refused_total', 'Requests refused before they became an operation, by code', ['code']),
    buildInfo: gauge('build_info', '1, with the version of this subgraph and of Node', ['version', 'node']),
    ready: gauge('ready', '1 while readiness succeeds, else 0'),
    evictions: counter('connections_evicted_total', 'Connections without an operation that were closed for newer ones'),
    errors: counter('errors_total', 'Errors in responses, by error code', ['code']),
    callSeconds: new Histogram({
      name: 'device_trust_upstream_duration_seconds',
      help: 'Duration of upstream calls, by service, region and outcome',
      labelNames: [...perRegion, 'outcome'],
      buckets: BUCKETS,
      registers,
    }),
    callsInFlight: gauge('upstream_in_flight', 'Upstream calls in flight', perRegion),
    callsLimit: gauge('upstream_in_flight_limit', 'Upstream calls that may be in flight at once', perRegion),
    callsQueued: gauge('upstream_queued', 'Upstream calls that wait in the queue', perRegion),
    health: gauge('upstream_health', '1 for the state that the account is in, else 0', [...perAccount, 'state']),
    hasWorked: gauge('upstream_has_worked', '1 once the account has worked in this process, else 0', perAccount),
    outages: counter('upstream_outages_total', 'Outages that probes have confirmed, by account', perAccount),
    probes: counter('upstream_probes_total', 'Probes of accounts, by result', [...perRegion, 'result']),
    quotaLimit: gauge('quota_limit', 'Calls that the quota allows for each account', perWindow),
    quotaRemaining: gauge('quota_remaining', 'Calls left of the quota, for the account with the least left', perWindow),
    quotaRefusals: counter('quota_refused_total', 'Calls that were refused because the quota is used up', perWindow),
    quotaStoreAway: gauge('quota_store_away', '1 while the quota store is away, refuses or is late, else 0'),
    newestInUse: gauge('newest_in_use', '1 while the newest content of these files is in use, else 0', ['file']),
    contentInfo: gauge('content_info', '1, with a hash of what is in use of this content', ['content', 'hash']),
    time: gauge('time_seconds', 'The clock of this machine, in seconds since 1970'),
    failedLookups: counter('lookups_failed_total', 'Look-ups of host names that failed'),
    droppedLines: counter('log_lines_dropped_total', 'Log lines that could not be written'),
    lostSpans: counter('spans_lost_total', 'Spans that the receiver of traces did not get, by reason', ['reason']),
    lookups: counter('fingerprint_lookups_total', 'Device tokens that operations asked about'),
    fingerprintCalls: counter('fingerprint_calls_total', 'Upstream calls that were made for those tokens'),
    signals: counter('signals_total', 'Signals in judgements, by code and level', ['code', 'level']),
    drift: counter('catalogue_drift_total', 'Words and values that the document does not have, by kind', ['kind']),
    shortenedReports: counter('reports_shortened_total', 'Devices that reported more about themselves than is kept'),
    decisions: counter('decisions_total', 'Decisions about devices, by action and rule; shadow rules only count', [
      'action',
      'rule',
      'shadow',
      'client_type',
      'event_type',
    ]),
    judgements: counter('judgements_total', 'Judgements that were sealed, opened, or could not be opened', ['outcome']),
    droppedMetadata: counter('metadata_dropped_total', 'Arguments that a trusted header overruled, by key', ['key']),
    verdicts: counter('captcha_outcomes_total', 'Captcha verifications, by outcome', ['type', 'cause', 'proceed']),
    limitedCaptchas: counter('captcha_limited_total', 'Captchas beyond what may proceed in a confirmed outage'),
    attestations: counter('attestations_total', 'Attestations, by audience and assurance', ['audience', 'assurance']),
    attestationRefusals: counter('attestation_refusals_total', 'Attestations that were refused, by reason', ['reason']),
  };

  // Prometheus sees no increase in a series that appears with the value 1, so these exist from the start: an alert has to
  // fire at the first of them.
  for (const code of Object.keys(ERROR_CATALOGUE)) metrics.errors.inc({ code }, 0);
  for (const side of ['operator', 'upstream', 'caller'] satisfies Side[]) metrics.failures.inc({ side }, 0);
  metrics.buildInfo.set({ version: packageJson.version, node: process.versions.node }, 1);
  for (const code of ['BAD_REQUEST', 'UNAUTHENTICATED', 'OVERLOADED', 'INTERNAL_SERVER_ERROR'] satisfies ErrorCode[])
    metrics.refusals.inc({ code }, 0);
  for (const service of ['fingerprint', 'captcha']) {
    for (const window of ['second', 'day']) metrics.quotaRefusals.inc({ service, window }, 0);
  }
  for (const file of ['secrets', 'policy']) metrics.newestInUse.set({ file }, 1);
  for (const reason of ATTESTATION_REFUSALS) metrics.attestationRefusals.inc({ reason }, 0);
  for (const kind of DRIFTS) metrics.drift.inc({ kind }, 0);
  for (const reason of ['export_failed', 'queue_full']) metrics.lostSpans.inc({ reason }, 0);
  for (const outcome of JUDGEMENT_OUTCOMES) metrics.judgements.inc({ outcome }, 0);
  for (const cause of ['CLIENT', 'CONFIGURATION', 'SERVICE', 'TRANSPORT'])
    metrics.verdicts.inc({ type: 'CaptchaIndeterminate', cause, proceed: 'true' }, 0);
  metrics.verdicts.inc({ type: 'CaptchaFailed', cause: 'ILLEGAL_SIGN_TOKEN', proceed: 'false' }, 0);
  return metrics;
}
