import { Counter, Gauge, Histogram, type Registry, type RegistryContentType } from 'prom-client';
import { ATTESTATION_REFUSALS } from '../captcha/attestation-refusals.ts';
import { ERROR_CATALOGUE, type Side } from '../errors.ts';
import { SIGNAL_DRIFTS } from '../fingerprint/drift.ts';
import { JUDGEMENT_OUTCOMES } from '../fingerprint/judgement-outcomes.ts';
import { VERSION } from './build.ts';

/**
 * Upper bounds of the histograms in seconds: from an immediate refusal to beyond the longest deadline. 2 is the objective of
 * latency, and 3 and 5 are the default deadlines, so that a bucket ends at each.
 */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10];

/** The codes with which a request can be refused before it becomes an operation. */
const REFUSALS = ['BAD_REQUEST', 'UNAUTHENTICATED', 'OVERLOADED', 'INTERNAL_SERVER_ERROR'] as const;

/** Why a captcha can get no verdict. */
const NO_VERDICT_CAUSES = ['CLIENT', 'CONFIGURATION', 'SERVICE', 'TRANSPORT'] as const;

/**
 * The metrics of this subgraph, in that registry. Every label has few values, none of which a client chooses: a token in a
 * label would be a leak, and unbounded values would exhaust the memory of Prometheus.
 */
export function defineMetrics(registry: Registry<RegistryContentType>) {
  const registers = [registry];
  const counter = <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Counter({ name: `device_trust_${name}`, help, labelNames, registers });
  const gauge = <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge({ name: `device_trust_${name}`, help, labelNames, registers });
  // prom-client's types take the labels of an exemplar for labels of the metric.
  const histogram = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Histogram<Label | 'trace_id'>({
      name: `device_trust_${name}`,
      help,
      labelNames,
      buckets: BUCKETS,
      registers,
      enableExemplars: true,
    });

  const perRegion = ['service', 'region'] as const;
  const perAccount = [...perRegion, 'account'] as const;
  const perWindow = ['service', 'window'] as const;
  const metrics = {
    operationSeconds: histogram(
      'operation_duration_seconds',
      'Duration of GraphQL operations, by root field and outcome',
      ['field', 'outcome'],
    ),
    operations: counter('operations_total', 'GraphQL operations, by who sent them and by outcome', [
      'caller',
      'outcome',
    ]),
    failures: counter('operations_failed_total', 'GraphQL operations with an error, by who has to act', ['side']),
    operationsInFlight: gauge('operations_in_flight', 'GraphQL operations in flight'),
    refusals: counter('requests_refused_total', 'Requests refused before they became an operation, by error code', [
      'code',
    ]),
    buildInfo: gauge('build_info', '1, with the version of this subgraph and of Node', ['version', 'node']),
    ready: gauge('ready', '1 while readiness succeeds, else 0'),
    evictions: counter('connections_evicted_total', 'Connections without an operation that were closed for newer ones'),
    errors: counter('errors_total', 'Errors in responses, by error code', ['code']),
    callSeconds: histogram('upstream_duration_seconds', 'Duration of upstream calls, by service, region and outcome', [
      ...perRegion,
      'outcome',
    ]),
    callsInFlight: gauge('upstream_in_flight', 'Upstream calls in flight', perRegion),
    callsLimit: gauge('upstream_in_flight_limit', 'Upstream calls that may be in flight at once', perRegion),
    callsQueued: gauge('upstream_queued', 'Upstream calls that wait in the queue', perRegion),
    health: gauge('upstream_health', '1 for the state of each account: unknown, well, refused or outage', [
      ...perAccount,
      'state',
    ]),
    hasWorked: gauge('upstream_has_worked', '1 once the account has worked in this process, else 0', perAccount),
    outages: counter('upstream_outages_total', 'Outages that probes have confirmed, by account', perAccount),
    probes: counter('upstream_probes_total', 'Probes that were sent to find out whether accounts work, by result', [
      ...perRegion,
      'result',
    ]),
    quotaLimit: gauge('quota_limit', 'Calls that the quota allows for each account', perWindow),
    quotaRemaining: gauge('quota_remaining', 'Calls left of the quota, for the account with the least left', perWindow),
    quotaRefusals: counter('quota_refused_total', 'Calls that were refused because the quota is used up', perWindow),
    quotaStoreAway: gauge('quota_store_away', '1 while the store of the quotas is away, else 0'),
    lookups: counter('fingerprint_lookups_total', 'Device tokens that operations asked about'),
    fingerprintCalls: counter('fingerprint_calls_total', 'Upstream calls that were made for those tokens'),
    signals: counter('signals_total', 'Signals in judgements, by code and level', ['code', 'level']),
    drift: counter('catalogue_drift_total', 'Signals that differ from the catalogue, by kind of difference', ['kind']),
    decisions: counter('decisions_total', 'Decisions about devices, by action and rule; shadow rules only count', [
      'action',
      'rule',
      'shadow',
    ]),
    judgements: counter('judgements_total', 'Judgements that were sealed, opened, or could not be opened', ['outcome']),
    droppedMetadata: counter(
      'metadata_dropped_total',
      'Arguments of the metadata that did not count, because a trusted header carries the same, by key',
      ['key'],
    ),
    verdicts: counter('captcha_outcomes_total', 'Captcha verifications, by outcome', ['type', 'cause', 'proceed']),
    attestations: counter('attestations_total', 'Attestations, by audience and by what was verified', [
      'audience',
      'assurance',
    ]),
    attestationRefusals: counter('attestation_refusals_total', 'Attestations that were not issued, by reason', [
      'reason',
    ]),
  };

  // Prometheus sees no increase in a series that appears with the value 1, so these exist from the start: an alert has to
  // fire at the first of them.
  for (const code of Object.keys(ERROR_CATALOGUE)) metrics.errors.inc({ code }, 0);
  for (const side of ['operator', 'upstream', 'caller'] satisfies Side[]) metrics.failures.inc({ side }, 0);
  metrics.buildInfo.set({ version: VERSION, node: process.versions.node }, 1);
  for (const code of REFUSALS) metrics.refusals.inc({ code }, 0);
  for (const service of ['fingerprint', 'captcha']) {
    for (const window of ['second', 'day']) metrics.quotaRefusals.inc({ service, window }, 0);
  }
  for (const reason of ATTESTATION_REFUSALS) metrics.attestationRefusals.inc({ reason }, 0);
  for (const kind of SIGNAL_DRIFTS) metrics.drift.inc({ kind }, 0);
  for (const outcome of JUDGEMENT_OUTCOMES) metrics.judgements.inc({ outcome }, 0);
  for (const cause of NO_VERDICT_CAUSES)
    metrics.verdicts.inc({ type: 'CaptchaIndeterminate', cause, proceed: 'true' }, 0);
  metrics.verdicts.inc({ type: 'CaptchaFailed', cause: 'ILLEGAL_SIGN_TOKEN', proceed: 'false' }, 0);
  return metrics;
}
