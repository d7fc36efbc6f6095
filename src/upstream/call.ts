import packageJson from '../../package.json' with { type: 'json' };
import type { Operation } from '../observability/operation.ts';

/** A call: the account for which it is sent, and the operation that needs it. */

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

/** The operation that needs a call. */
export type CallingOperation = Pick<
  Operation,
  'caller' | 'isService' | 'requestId' | 'signal' | 'responseBytesLeft' | 'startCall'
>;
