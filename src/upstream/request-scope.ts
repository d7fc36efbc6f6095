import { DeviceTrustError } from '../errors.ts';
import type { Operation } from '../observability/operation.ts';

/** The most that all responses to one GraphQL request may weigh together, in bytes. A documented one weighs 8 KB at most. */
export const MAX_RESPONSES_WEIGHT = 2 * 1024 * 1024;

/** The limits that the upstream calls of one GraphQL request share, and the recorder of that request. */
export class RequestScope {
  readonly operation: Operation;
  responsesWeightLeft = MAX_RESPONSES_WEIGHT;
  readonly #cancellation = new AbortController();

  constructor(operation: Operation) {
    this.operation = operation;
  }

  /** Aborts the upstream calls of the request. Its reason is an error. */
  get signal(): AbortSignal {
    return this.#cancellation.signal;
  }

  /** The client disconnected: aborts the upstream calls under way, except probes. */
  cancel(): void {
    this.#cancellation.abort(new DeviceTrustError('CANCELLED'));
  }
}
