import type { CallTarget } from '../observability/tracing.ts';
import type { CallContext } from './call-context.ts';

/** One POST to an upstream. */
export interface UpstreamRequest {
  /** Each region has a bulkhead of its own: the failure of one must not affect another. */
  readonly region: string;
  /** The public key or captcha id: each has a quota, pauses and a health of its own. Not a secret. */
  readonly account: string;
  /** Scheme, host and port. */
  readonly origin: string;
  readonly path: string;
  readonly pathTemplate: CallTarget['pathTemplate'];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The deadline for everything: the queue, the connection and the whole response, in ms. */
  readonly timeoutMs: number;
  readonly context: CallContext;
}
