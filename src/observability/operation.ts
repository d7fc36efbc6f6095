import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Span } from '@opentelemetry/api';
import type { FormattedExecutionResult } from 'graphql';
import type { Logger } from 'pino';
import { isErrorCode, type Side } from '../errors.ts';
import { type LogHash, writeOperation } from './logger.ts';
import type { Metrics, OperationKind } from './metrics.ts';
import { type CallTarget, endCall, endOperation, parseTraceparent, type Tracing } from './tracing.ts';

export interface Telemetry {
  readonly log: Logger;
  /** The fraction of the good operations that write a line. */
  readonly logSample: number;
  readonly metrics: Metrics;
  readonly logHash: LogHash;
  readonly tracing: Tracing | undefined;
}

/** A decision of the risk policy, and the shadow rules that match before it. */
type Decision = Readonly<Record<'action' | 'rule' | 'policy', string>> & { readonly shadow: readonly string[] };

/** The values of these headers are logged only if they are short and plain. */
const REQUEST_ID = /^[\w.-]{1,64}$/;
const CLIENT = /^[\w ./-]{1,64}$/;
/** A name in a document can have 256 characters. */
const MAX_NAME_LENGTH = 64;

/** If several sides have to act, the one with the highest rank counts. */
const RANK: Readonly<Record<Side, number>> = { caller: 0, upstream: 1, operator: 2 };

/** The latency objective, in ms. An operation that takes this long always writes a line. */
const SLOW_MS = 2_000;

/** The record of one operation, from body to response. At its end it writes one log line, one set of metrics and one span. */
export class Operation {
  /** Identifies the operation in the log: the router's `x-request-id` if it is short and plain. */
  readonly requestId: string;
  readonly #telemetry: Telemetry;
  readonly #request: IncomingMessage;
  readonly #span: Span | undefined;
  readonly #startedAt = performance.now();
  readonly #outcomes: Record<string, number> = {};
  readonly #tokens: string[] = [];
  readonly #decisions: Decision[] = [];
  #kind: OperationKind | undefined;
  #reader: string | undefined;
  #side: Side | undefined;
  #calls = 0;
  #callMs = 0;
  #hasBadOutcome = false;
  #proceed: boolean | undefined;

  constructor(request: IncomingMessage, telemetry: Telemetry) {
    this.#telemetry = telemetry;
    this.#request = request;
    this.#span = telemetry.tracing?.startOperation(request);
    this.requestId = plain(request.headers['x-request-id'], REQUEST_ID) ?? randomUUID();
    telemetry.metrics.operationStarted();
  }

  get log(): Logger {
    return this.#telemetry.log;
  }

  /** The root field; undefined before `recordKind`. */
  get field(): string | undefined {
    return this.#kind?.field;
  }

  /** Records the kind of the operation, once its document is valid. */
  recordKind({ type, field }: Omit<OperationKind, 'name'>, name: string | undefined): void {
    this.#kind = { type, field, name: name?.slice(0, MAX_NAME_LENGTH) };
  }

  /** Records the person, if one is known, for whom data with the tag `risk` is read. */
  recordReader(subject: string | undefined): void {
    this.#reader = subject;
  }

  /** Records the side that has to act on an error. The operator outranks the upstream, and both outrank the caller. */
  recordFailure(side: Side): void {
    if (this.#side === undefined || RANK[side] > RANK[this.#side]) this.#side = side;
  }

  /** Counts a look-up of a token. The same token twice counts twice. */
  recordLookup(token: string): void {
    this.#tokens.push(token);
  }

  /** Records whether a captcha may proceed; of several captchas in one operation, whether each of them may. */
  recordProceed(proceed: boolean): void {
    this.#proceed = proceed && this.#proceed !== false;
  }

  /** Counts a field of this type in the answer. A refusal, or a captcha without a verdict, is not good. */
  recordOutcome(typename: string, isGood: boolean): void {
    this.#hasBadOutcome ||= !isGood;
    this.#outcomes[typename] = (this.#outcomes[typename] ?? 0) + 1;
  }

  /** Starts an upstream call, and returns the function that records its end, with its duration in ms. */
  startCall(target: CallTarget): (call: { outcome: string; status: number | undefined; ms: number }) => void {
    const span = this.#span && this.#telemetry.tracing?.startCall(this.#span, target);
    return ({ outcome, status, ms }) => {
      this.#calls += 1;
      this.#callMs += ms;
      if (span) endCall(span, outcome, status);
    };
  }

  recordDecision({ action, rule, policy }: Omit<Decision, 'shadow'>, shadow: readonly string[]): void {
    this.#decisions.push({ action, rule, policy, shadow });
  }

  /** Ends the operation of this caller once the response has been sent or cannot be sent. */
  end(caller: string, status: number, { data, errors: all = [] }: FormattedExecutionResult): void {
    const errors = all.map(({ extensions: { code } = {} }) => (isErrorCode(code) ? code : 'INTERNAL_SERVER_ERROR'));
    const hasData = data != null && Object.values(data).some(holdsData);
    const ms = performance.now() - this.#startedAt;
    // Errors that were not recorded one by one are about the request as a whole.
    const side = errors[0] === 'INTERNAL_SERVER_ERROR' ? 'operator' : (this.#side ?? 'caller');
    const finished = { caller, kind: this.#kind, ms, status, hasData, errors, side };
    this.#telemetry.metrics.recordOperation(finished);
    if (this.#span) endOperation(this.#span, this.#request, finished);
    this.#writeLine(caller, errors, ms);
  }

  #writeLine(caller: string, errors: readonly string[], ms: number): void {
    const { log, logSample, logHash } = this.#telemetry;
    const isGood =
      errors.length === 0 &&
      ms < SLOW_MS &&
      !this.#hasBadOutcome &&
      this.#decisions.every(({ action, shadow }) => action === 'ALLOW' && shadow.length === 0);
    // Good operations need no investigation, so a sample is enough.
    if (isGood && Math.random() >= logSample) return;
    const { headers } = this.#request;
    writeOperation(log, {
      requestId: this.requestId,
      traceId: this.#span?.spanContext().traceId ?? parseTraceparent(headers['traceparent'])?.traceId,
      caller,
      person: this.#reader && logHash(this.#reader),
      operation: this.#kind?.name,
      client: plain(headers['apollographql-client-name'], CLIENT),
      clientVersion: plain(headers['apollographql-client-version'], CLIENT),
      ...decidedIn(this.#decisions),
      outcomes: this.#outcomes,
      proceed: this.#proceed,
      // Each code once, because a request may have a thousand errors. The metrics count them.
      errors: errors.length > 0 ? [...new Set(errors)] : undefined,
      upstreamCalls: this.#calls,
      upstreamMs: Math.round(this.#callMs),
      ms: Math.round(ms),
      sample: isGood && logSample < 1 ? logSample : undefined,
      tokens: log.isLevelEnabled('debug') ? this.#tokens.map((token) => logHash(token)) : undefined,
    });
  }
}

/** The words of all decisions, each word once; empty without a decision. Most operations have one decision at most. */
function decidedIn(decisions: readonly Decision[]) {
  const [first, ...others] = decisions;
  if (!first) return {};
  if (others.length === 0) {
    const { action: decision, rule, policy, shadow } = first;
    return { decision, rule, policy, shadow: shadow.join(' ') || undefined };
  }
  const words = (of: (decision: Decision) => string | readonly string[]) =>
    [...new Set(decisions.flatMap(of))].join(' ');
  return {
    decision: words((each) => each.action),
    rule: words((each) => each.rule),
    policy: words((each) => each.policy),
    shadow: words((each) => each.shadow) || undefined,
  };
}

/** The value of a header, if the header occurs once and its value has this form. */
function plain(header: string | string[] | undefined, form: RegExp): string | undefined {
  return typeof header === 'string' && form.test(header) ? header : undefined;
}

/** Does a field hold data? A list of nulls, which is the answer to references that all fail, does not. */
function holdsData(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 || value.some(holdsData) : value !== null;
}
