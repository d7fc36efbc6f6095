import packageJson from '../../package.json' with { type: 'json' };
import { DeviceTrustError } from '../errors.ts';
import type { Operation } from '../observability/operation.ts';

/** A call: the account for which it is sent, and the GraphQL request that needs it. */

/** Sent with calls and probes. Without `Accept-Encoding` a service may choose any coding (RFC 9110, 12.5.3). */
export const CLIENT_HEADERS = {
  'user-agent': `${packageJson.name}/${packageJson.version}`,
  'accept-encoding': 'identity',
};

/** A configured account of an upstream service, prepared for calls. Each has a quota, pauses and a health of its own. */
export interface Account {
  /** Its public id, which is no secret. */
  readonly id: string;
  /** Each region has a bulkhead of its own, because it can fail alone. Undefined if the service has no regions. */
  readonly region?: string | undefined;
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
  /** May hold a secret. Never logged. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The total length of all responses to one GraphQL request, in bytes beyond the usual length of each. */
const MAX_RESPONSE_BYTES = 768 * 1024;

/** The limits that the upstream calls of one GraphQL request share, and the recorder of that request. */
export class RequestScope {
  readonly operation: Operation;
  responseBytesLeft = MAX_RESPONSE_BYTES;
  readonly #cancellation = new AbortController();

  constructor(operation: Operation) {
    this.operation = operation;
  }

  /** Aborts the upstream calls of the request. The reason is an error. */
  get signal(): AbortSignal {
    return this.#cancellation.signal;
  }

  /** Aborts the upstream calls in flight, except probes, after the client has disconnected. */
  cancel(): void {
    this.#cancellation.abort(new DeviceTrustError('CANCELLED'));
  }
}

export type CallScope = Pick<RequestScope, 'signal' | 'responseBytesLeft'> & {
  readonly operation: Pick<Operation, 'caller' | 'isService' | 'requestId' | 'recordCall' | 'startCallSpan'>;
};
