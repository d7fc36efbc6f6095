import type { OperationTypeNode } from 'graphql';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import packageJson from '../../package.json' with { type: 'json' };
import { codesOf, type ErrorCode, type Side } from '../errors.ts';
import { linesDropped } from './logger.ts';

/** The kind of an operation. Only `name` is the client's text; all else is a word of the schema. */
export interface OperationKind {
  readonly type: OperationTypeNode;
  /** The root field; `several` if there are different root fields, and `introspection` if only the schema is asked for. */
  readonly field: string;
  readonly name: string | undefined;
}

export interface FinishedOperation {
  /** The name of the caller: `router`, `anyone` or a configured service. */
  readonly caller: string;
  /** Undefined if no valid document contained the operation. */
  readonly kind: OperationKind | undefined;
  readonly ms: number;
  readonly status: number;
  readonly hasData: boolean;
  readonly errors: readonly ErrorCode[];
  /** The side that has to act on its errors. */
  readonly side: Side;
}

/** Where each part of the process defines its metrics. */
export type MetricsRegistry = ReturnType<typeof createRegistry>;

/** A registry with Node's own metrics. A label has few values, none of a client's choice: those would leak tokens, or exhaust Prometheus. */
function createRegistry() {
  const registry = new Registry();
  // Node's histogram of the event loop would wake the process a hundred times a second. `event_loop_lag_seconds_total` replaces it.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 2 ** 31 - 1 });
  for (const { name } of registry.getMetricsAsArray())
    if (/^nodejs_eventloop_lag_(?!seconds$)/.test(name)) registry.removeSingleMetric(name);
  const updates: (() => void)[] = [];
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name: `device_trust_${name}`, help, labelNames, registers: [registry] });
  return {
    contentType: registry.contentType,
    counter,
    /** Makes the function that counts words. The series of `known` words begin at 0, because an alert cannot see the first increase of a series. */
    counterOf: <const Word extends string>(name: string, help: string, label: string, known: readonly Word[] = []) => {
      const words = counter<string>(name, help, label);
      for (const word of known) words.inc({ [label]: word }, 0);
      return (word: Word, count?: number) => words.inc({ [label]: word }, count);
    },
    gauge: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Gauge({ name: `device_trust_${name}`, help, labelNames, registers: [registry] }),
    histogram: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Histogram({ name: `device_trust_${name}`, help, labelNames, buckets: BUCKETS, registers: [registry] }),
    /** Registers an update that runs before each scrape, in the order of registration. */
    onCollect: (update: () => void) => void updates.push(update),
    /** Everything counted so far, in the text format. */
    render: async (): Promise<string> => {
      for (const update of updates) update();
      return registry.metrics();
    },
  };
}

/** In seconds. A bucket ends at the latency objective, 2, at the default deadlines, 3 and 5, and beyond them, at 10. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10];
const REFUSALS: readonly ErrorCode[] = ['BAD_REQUEST', 'UNAUTHENTICATED', 'OVERLOADED', 'INTERNAL_SERVER_ERROR'];

export type Metrics = ReturnType<typeof createMetrics>;

/** The metrics of a process with these slices, and of its operations. The help text of a metric says what a method records. */
export function createMetrics(slices: readonly string[]) {
  const registry = createRegistry();
  const { counter, counterOf, gauge, histogram, onCollect } = registry;
  const duration = 'Duration of GraphQL operations, by root field and outcome';
  const seconds = histogram('operation_duration_seconds', duration, 'field', 'outcome');
  const operations = counter('operations_total', 'GraphQL operations, by caller and outcome', 'caller', 'outcome');
  const failed = 'GraphQL operations with an error, by responsible side';
  const countFailure = counterOf<Side>('operations_failed_total', failed, 'side', ['operator', 'upstream', 'caller']);
  const countError = counterOf('errors_total', 'Errors in responses, by error code', 'code', codesOf(slices));
  const documents = 'Documents of requests, by result: a hit is known, a miss is parsed and validated';
  const inFlight = gauge('operations_in_flight', 'GraphQL operations in flight');
  const refused = 'Requests refused before they became an operation, by code';
  const evicted = 'Connections without an operation that were closed for newer ones';
  const evictions = counter('connections_evicted_total', evicted);
  const failedLookups = counter('lookups_failed_total', 'Look-ups of host names that failed');
  const droppedLines = counter('log_lines_dropped_total', 'Log lines that could not be written');
  const lost = 'Spans that the receiver of traces did not get, by reason';
  const ready = gauge('ready', '1 while readiness succeeds, else 0');
  const late = 'The time by which the event loop was late while requests were in flight';
  const lag = counter('event_loop_lag_seconds_total', late);
  const time = gauge('time_seconds', 'The clock of this machine, in seconds since 1970');
  const build = { version: packageJson.version, node: process.versions.node };
  gauge('build_info', '1, with the version of this subgraph and of Node', 'version', 'node').set(build, 1);

  onCollect(() => {
    time.set(Date.now() / 1_000);
    droppedLines.reset();
    droppedLines.inc(linesDropped());
  });

  return {
    registry,
    operationStarted: () => inFlight.inc(),
    recordOperation: ({ caller, kind, ms, hasData, errors, side }: FinishedOperation) => {
      const hasFailed = errors.length > 0;
      const outcome = !hasFailed ? 'ok' : hasData ? 'partial' : 'error';
      inFlight.dec();
      operations.inc({ caller, outcome });
      seconds.observe({ field: kind?.field ?? 'none', outcome }, ms / 1_000);
      if (hasFailed) countFailure(side);
      for (const code of errors) countError(code);
    },
    recordDocument: counterOf('documents_total', documents, 'result', ['hit', 'miss']),
    recordRefusal: counterOf('requests_refused_total', refused, 'code', REFUSALS),
    recordFailedLookup: () => failedLookups.inc(),
    recordLostSpans: counterOf('spans_lost_total', lost, 'reason', ['export_failed', 'queue_full']),
    watchEventLoop: (measuredLagMs: () => number) =>
      onCollect(() => {
        lag.reset();
        lag.inc(measuredLagMs() / 1_000);
      }),
    watchReadiness: (isReady: () => boolean) => onCollect(() => ready.set(Number(isReady()))),
    recordEviction: () => evictions.inc(),
  };
}
