import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { FormattedExecutionResult } from 'graphql';
import type { Logger } from 'pino';
import { DeviceTrustError } from '../errors.ts';
import type { Operation } from '../graphql/context.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { HashToken } from '../observability/token-hash.ts';
import { parseTraceparent } from '../observability/traceparent.ts';
import type { Tracing } from '../observability/tracing.ts';
import { Cancellation } from '../upstream/call-context.ts';

/** Where operations are told of. */
export interface Telemetry {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly hashToken: HashToken;
  /** Absent unless traces are exported. */
  readonly tracing: Tracing | undefined;
}

/** A GraphQL request from its body to its answer, as one log line and one set of metrics. */
export interface RunningOperation extends Operation {
  /** The caller hung up: aborts what is still under way, but for probes. Does nothing once the operation has ended. */
  cancel(): void;
  /**
   * The answer is out, or never will be. What became no operation leaves no line and no trace.
   *
   * @param status of the answer, as HTTP has it
   */
  end(status: number): void;
}

/** Begins to measure. Ids come from the router's headers where it sent any that are fit for a log. */
export function startOperation(headers: IncomingHttpHeaders, telemetry: Telemetry): RunningOperation {
  const { log, metrics, hashToken, tracing } = telemetry;
  const start = performance.now();
  const cancellation = new Cancellation();
  const trace = tracing?.startOperation(headers);
  const tokens: string[] | undefined = log.isLevelEnabled('debug') ? [] : undefined;
  let ended = false;
  metrics.operationStarted();
  const operation: RunningOperation = {
    requestId: REQUEST_ID.exec(one(headers['x-request-id']))?.[0] ?? randomUUID(),
    name: undefined,
    cancellation,
    startSpan: trace?.startCall,
    outcomes: {},
    errors: undefined,
    calls: 0,
    callMs: 0,
    recordCall: (ms) => {
      operation.calls += 1;
      operation.callMs += ms;
    },
    hasData: false,
    lookups: 0,
    references: 0,
    tokens,
    cancel: () => {
      if (!ended) cancellation.cancel(new DeviceTrustError('CANCELLED'));
    },
    end: (status) => {
      ended = true;
      metrics.operationEnded();
      const errors = errorsOf(operation.errors, status);
      if (!errors) {
        if (status >= 400) metrics.recordRefusal('BAD_REQUEST');
        return;
      }
      const { hasData, lookups } = operation;
      const name = operation.name?.slice(0, MAX_NAME_LENGTH);
      const ms = performance.now() - start;
      const outcome = outcomeOf(errors, hasData && status < 400);
      metrics.recordOperation({ ms, outcome, errors, lookups });
      trace?.end(name, errors);
      const { traceId } = trace ?? parseTraceparent(headers['traceparent']) ?? {};
      const hashes = tokens?.map(hashToken);
      log.info(lineOf(operation, headers, { name, errors, traceId, ms, tokens: hashes }), 'operation');
    },
  };
  return operation;
}

/** Short and plain, or not at all: whatever else a caller writes into these headers stays out of the log. */
const REQUEST_ID = /^[\w.-]{1,64}$/;
const CLIENT = /^[\w ./-]{1,64}$/;
/** A name in a document may be as long as the document. */
const MAX_NAME_LENGTH = 64;

function one(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : '';
}

/** Codes of the errors in the answer of an operation; undefined for a page, and for what became no operation. */
function errorsOf(executed: Operation['errors'], status: number): readonly string[] | undefined {
  if (status >= 500 && !executed?.length) return ['INTERNAL_SERVER_ERROR'];
  // Executed, and then there was no content type that the caller takes.
  if (status >= 400 && executed?.length === 0) return ['BAD_REQUEST'];
  return executed;
}

function outcomeOf(errors: readonly string[], hasData: boolean): 'ok' | 'partial' | 'error' {
  if (errors.length === 0) return 'ok';
  return hasData ? 'partial' : 'error';
}

/** What is only known at the end. */
interface Ending {
  readonly name: string | undefined;
  readonly errors: readonly string[];
  readonly traceId: string | undefined;
  readonly ms: number;
  readonly tokens: readonly string[] | undefined;
}

function lineOf(
  { requestId, outcomes, calls, callMs }: Operation,
  headers: IncomingHttpHeaders,
  { name, errors, traceId, ms, tokens }: Ending,
) {
  return {
    requestId,
    traceId,
    operation: name,
    client: CLIENT.exec(one(headers['apollographql-client-name']))?.[0],
    clientVersion: CLIENT.exec(one(headers['apollographql-client-version']))?.[0],
    outcomes,
    // Each code once: a request may have a thousand errors. The metrics count them.
    errors: errors.length > 0 ? [...new Set(errors)] : undefined,
    upstreamCalls: calls,
    upstreamMs: Math.round(callMs),
    ms: Math.round(ms),
    tokens,
  };
}

/** Notes how an answer came out: its error codes, and whether it holds any data. */
export function tellOfResult(operation: Operation, { data, errors = [] }: FormattedExecutionResult): void {
  operation.errors = errors.map(({ extensions }) => String(extensions?.['code']));
  operation.hasData = data != null && Object.values(data).some(isSomething);
}

/** References come as a list of nulls when none of them can be resolved. */
function isSomething(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 || value.some(isSomething) : value !== null;
}
