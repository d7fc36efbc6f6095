import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { FormattedExecutionResult } from 'graphql';
import type { Logger } from 'pino';
import { DeviceTrustError, type Side } from '../errors.ts';
import type { Caller } from '../graphql/caller.ts';
import type { OperationRecorder } from '../graphql/context.ts';
import type { OperationKind } from '../graphql/operation-kind.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type OperationLine, writeOperation } from '../observability/operation-line.ts';
import type { HashToken } from '../observability/token-hash.ts';
import { parseTraceparent } from '../observability/traceparent.ts';
import type { OperationSpan, Tracing } from '../observability/tracing.ts';
import { Cancellation } from '../upstream/call-context.ts';
import { isGood } from './good-operation.ts';

/** Where operations are reported. */
export interface Telemetry {
  readonly log: Logger;
  /** The share of the good operations that write a line. */
  readonly logSample: number;
  readonly metrics: Metrics;
  readonly hashToken: HashToken;
  /** Undefined unless traces are exported. */
  readonly tracing: Tracing | undefined;
}

/** The values of these headers are logged only if they are short and plain. */
const REQUEST_ID = /^[\w.-]{1,64}$/;
const CLIENT = /^[\w ./-]{1,64}$/;
/** A name in a document can be as long as the document. */
const MAX_NAME_LENGTH = 64;

/** Which side counts if several have to act. */
const RANK: Readonly<Record<Side, number>> = { caller: 0, upstream: 1, operator: 2 };

/**
 * One GraphQL operation from its parsed body to its response. It is the only place that collects what happened: when the
 * operation ends, it becomes one log line, one set of metrics and one span. Every operation has one, whether Apollo Server or
 * compiled code executes it.
 */
export class OperationLog implements OperationRecorder {
  /** Identifies the operation in the log: the router's `x-request-id` if it is short and plain. */
  readonly requestId: string;
  readonly cancellation = new Cancellation();
  readonly startSpan: OperationSpan['startCall'] | undefined;
  readonly #telemetry: Telemetry;
  readonly #headers: IncomingHttpHeaders;
  readonly #caller: string;
  readonly #trace: OperationSpan | undefined;
  readonly #startedAt = performance.now();
  readonly #outcomes: Record<string, number> = {};
  /** The tokens that were asked about, if the log shows their hashes. */
  readonly #tokens: string[] | undefined;
  #kind: OperationKind | undefined;
  #side: Side | undefined;
  #lookups = 0;
  #calls = 0;
  #callMs = 0;
  /** Codes of the errors in the response. Undefined until there is a response to an operation. */
  #errors: readonly string[] | undefined;
  #hasData = false;
  #isOver = false;

  constructor(request: IncomingMessage, caller: Caller, telemetry: Telemetry) {
    const { headers } = request;
    this.#telemetry = telemetry;
    this.#headers = headers;
    this.#caller = caller.name;
    this.#trace = telemetry.tracing?.startOperation(request);
    this.#tokens = telemetry.log.isLevelEnabled('debug') ? [] : undefined;
    this.requestId = REQUEST_ID.exec(single(headers['x-request-id']))?.[0] ?? randomUUID();
    this.startSpan = this.#trace?.startCall;
    telemetry.metrics.operationStarted();
  }

  recordKind(kind: OperationKind): void {
    this.#kind = kind;
  }

  recordFailure(side: Side): void {
    if (this.#side === undefined || RANK[side] > RANK[this.#side]) this.#side = side;
  }

  recordLookup(token: string): void {
    this.#lookups += 1;
    this.#tokens?.push(token);
  }

  recordOutcome(typename: string): void {
    this.#outcomes[typename] = (this.#outcomes[typename] ?? 0) + 1;
  }

  recordCall(ms: number): void {
    this.#calls += 1;
    this.#callMs += ms;
  }

  recordResult({ data, errors = [] }: FormattedExecutionResult): void {
    this.#errors = errors.map(({ extensions }) => String(extensions?.['code']));
    this.#hasData = data != null && Object.values(data).some(holdsData);
  }

  /** The client disconnected: aborts the upstream calls under way, except probes. Does nothing once the operation is over. */
  cancel(): void {
    if (!this.#isOver) this.cancellation.cancel(new DeviceTrustError('CANCELLED'));
  }

  /**
   * To be called when the response was sent or cannot be sent. A request that did not become an operation leaves no log line
   * and no span.
   *
   * @param status the HTTP status of the response
   */
  end(status: number): void {
    this.#isOver = true;
    const { log, logSample, metrics } = this.#telemetry;
    metrics.operationEnded();
    const errors = this.#errorsWith(status);
    if (!errors) {
      if (status >= 400) metrics.recordRefusal('BAD_REQUEST');
      return;
    }
    const ms = performance.now() - this.#startedAt;
    const hasData = this.#hasData && status < 400;
    const outcome = errors.length === 0 ? 'ok' : hasData ? 'partial' : 'error';
    const failure = this.#failureOf(errors);
    metrics.recordOperation({
      caller: this.#caller,
      field: this.#kind?.field ?? 'none',
      ms,
      outcome,
      errors,
      side: failure?.side,
      lookups: this.#lookups,
      traceId: this.#trace?.isSampled ? this.#trace.traceId : undefined,
    });
    this.#trace?.end({ kind: this.#kind, failure, status });
    const sample = logSample < 1 && isGood(errors, ms, this.#outcomes) ? logSample : 1;
    if (sample === 1 || Math.random() < sample) writeOperation(log, this.#toLine(errors, ms, sample));
  }

  /** Codes of the errors in the response to an operation. Undefined for a page, and for a request that did not become one. */
  #errorsWith(status: number): readonly string[] | undefined {
    const executed = this.#errors;
    if (status >= 500 && !executed?.length) return ['INTERNAL_SERVER_ERROR'];
    // The operation was executed, but the client accepts none of our content types.
    if (status >= 400 && executed?.length === 0) return ['BAD_REQUEST'];
    return executed;
  }

  /** The first error, and who has to act; undefined without errors. */
  #failureOf([code]: readonly string[]) {
    if (code === undefined) return undefined;
    // Other errors that were not recorded one by one are about the request as a whole.
    return { code, side: code === 'INTERNAL_SERVER_ERROR' ? 'operator' : (this.#side ?? 'caller') } as const;
  }

  #toLine(errors: readonly string[], ms: number, sample: number): OperationLine {
    const headers = this.#headers;
    const { hashToken } = this.#telemetry;
    return {
      requestId: this.requestId,
      traceId: this.#trace?.traceId ?? parseTraceparent(headers['traceparent'])?.traceId,
      caller: this.#caller,
      operation: this.#kind?.name?.slice(0, MAX_NAME_LENGTH),
      client: CLIENT.exec(single(headers['apollographql-client-name']))?.[0],
      clientVersion: CLIENT.exec(single(headers['apollographql-client-version']))?.[0],
      outcomes: this.#outcomes,
      // Each code once, because a request may have a thousand errors. The metrics count them.
      errors: errors.length > 0 ? [...new Set(errors)] : undefined,
      upstreamCalls: this.#calls,
      upstreamMs: Math.round(this.#callMs),
      ms: Math.round(ms),
      sample: sample < 1 ? sample : undefined,
      tokens: this.#tokens?.map(hashToken),
    };
  }
}

function single(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : '';
}

/** Does a field hold data? A list of nulls, which is the answer to references that all fail, does not. */
function holdsData(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 || value.some(holdsData) : value !== null;
}
