import type { FormattedExecutionResult } from 'graphql';
import type { Caller } from '../callers/identity.ts';
import { RISK_SCOPE } from '../callers/settings.ts';
import type { Reservation } from '../callers/shares.ts';
import { DeviceTrustError } from '../errors.ts';
import type { Operation } from '../observability/operation.ts';
import type { CallContext } from '../upstream/client.ts';
import type { Cost } from './cost.ts';

/** Makes the object of a slice for one request. */
export interface RequestFactory {
  forRequest(context: RequestContext): object;
}

export interface ContextOptions {
  readonly maxCost: number;
  /** By the names of the slices that are on. */
  readonly slices: ReadonlyMap<string, RequestFactory>;
}

/** The total length of all upstream responses to one operation, in bytes beyond the usual length of each. */
const MAX_RESPONSE_BYTES = 768 * 1024;

/** The answer to an operation, with its HTTP status. */
export interface Answer {
  readonly status: number;
  readonly result: FormattedExecutionResult;
}

/**
 * The context of a request, which owns its state; `operation` records it. Apollo Server gives plugins and
 * resolvers a shallow copy, so no field is `#private`, and all that they share with the handler is in objects.
 */
export class RequestContext implements CallContext {
  readonly operation: Operation;
  readonly caller: Caller;
  readonly cost: Cost;
  /** The memory of the request: its body, then its document. */
  readonly memory: Reservation;
  /** The error of a plugin, which Apollo Server hides. */
  readonly thrown: { error?: Error } = {};
  /** The total length that upstream responses may still have, in bytes beyond the usual length of each. */
  responseBytesLeft = MAX_RESPONSE_BYTES;
  private readonly cancellation = new AbortController();
  /** Aborts the upstream calls of the request. The reason is an error. */
  readonly signal = this.cancellation.signal;
  private readonly refused = { fields: 0 };
  private readonly slices: ContextOptions['slices'];
  private readonly requests: Record<string, object> = {};

  constructor(operation: Operation, caller: Caller, memory: Reservation, { maxCost, slices }: ContextOptions) {
    this.operation = operation;
    this.caller = caller;
    this.memory = memory;
    this.cost = { max: maxCost, spent: 0 };
    this.slices = slices;
  }

  /** Aborts the upstream calls in flight, except probes, after the client has disconnected. */
  cancel(): void {
    this.cancellation.abort(new DeviceTrustError('CANCELLED'));
  }

  /** The slice's per-request object, created on first use. */
  requestOf<SliceRequest extends object>(slice: string): SliceRequest {
    const request = this.requests[slice] ?? this.slices.get(slice)?.forRequest(this);
    if (!request) throw new Error(`expected a slice that is on, but got ${slice}`);
    this.requests[slice] = request;
    // Safe: only the resolvers of a slice ask for its object, by the type of what it makes.
    return request as SliceRequest;
  }

  /** May the caller read data with the tag `risk`? If so, the log names the person. */
  mayReadRisk(): boolean {
    const { scopes, subject } = this.caller;
    if (scopes !== undefined && !scopes.has(RISK_SCOPE)) return false;
    this.operation.recordReader(subject);
    return true;
  }

  /** Refuses a field. The first 100 refusals throw an error, and the 100th error says that later refusals only return null. */
  refuseField(makeError: () => DeviceTrustError): null {
    this.refused.fields += 1;
    if (this.refused.fields > MAX_REFUSED_FIELDS) return null;
    const error = makeError();
    if (this.refused.fields === MAX_REFUSED_FIELDS)
      error.message += ' Further refused fields are null without an error.';
    throw error;
  }
}

/** An error takes as long as some 60 fields, and a request can select a field of 1,000 references under several aliases. */
const MAX_REFUSED_FIELDS = 100;
