import type { QuotaState } from '../observability/metrics.ts';
import type { Resolver } from '../runtime/dns.ts';
import { Bulkhead } from './bulkhead.ts';
import { Call, type CallService } from './call.ts';
import { Pauses } from './pauses.ts';
import type { ProbeTools } from './probe.ts';
import { Quota, type QuotaLimits, type QuotaStore } from './quota.ts';
import type { QuotaWindow } from './quota-count.ts';
import type { UpstreamRequest } from './request.ts';
import { ServiceHealth, type ServiceHealthOptions } from './service-health.ts';
import { Transport, type UpstreamResponse } from './transport.ts';

/** The client of one upstream service, with its sockets and with one bulkhead for each region. */
export interface UpstreamClient {
  /**
   * Sends one request and reads the whole response within the deadline. It is sent at most once: a second one would be
   * a new event upstream. Only a connection that could not be made, so that no byte was sent, is tried again, once.
   *
   * @throws DeviceTrustError UPSTREAM_TIMEOUT, UPSTREAM_UNAVAILABLE or UPSTREAM_PROTOCOL_ERROR; OVERLOADED if the queue
   *   is full, if our resolver fails, if an old socket was closed, or if the deadline passes for a reason of our own;
   *   QUOTA_EXCEEDED; AccountPausedError; OutageError
   * @throws the reason of the context's cancellation, once the operation is cancelled
   */
  post(request: UpstreamRequest): Promise<UpstreamResponse>;
  /** The health of each account. Calls are not sent while their account is down. */
  readonly health: ServiceHealth;
  /** The bulkhead of each region that was called so far. */
  bulkheads(): Iterable<readonly [region: string, Pick<Bulkhead, 'inFlight' | 'queued' | 'maxInFlight'>]>;
  /** The quota's limits and what is left of them; empty without a quota. */
  quotaStates(): Iterable<readonly [QuotaWindow, QuotaState]>;
  /** Closes every socket. */
  close(): Promise<void>;
}

/** What a client needs to know about its service, its limits, and whom it reports to. */
export interface UpstreamOptions
  extends Pick<CallService, 'service' | 'eventLoop' | 'onCall'>,
    Omit<ServiceHealthOptions, 'tools'>,
    Pick<ProbeTools, 'timeoutMs' | 'onProbe'> {
  /** Finds the addresses of host names; all clients share one. */
  readonly resolver: Resolver;
  /** Calls that may be under way at once in one region. */
  readonly upstreamMaxInFlight: number;
  /** Calls that may wait for one of those to end. */
  readonly upstreamMaxQueue: number;
  /** How many calls may be sent for each account; undefined if as many as come. */
  readonly quotaLimits: QuotaLimits | undefined;
  /** Where all replicas count together; undefined if each counts alone. */
  readonly quotaStore: QuotaStore | undefined;
  /** Called for each call that was refused because a quota is used up. */
  readonly onQuotaRefused: (window: QuotaWindow) => void;
}

/** Makes the client of one upstream service. It opens no socket before the first request. */
export function createUpstreamClient(options: UpstreamOptions): UpstreamClient {
  const { service, eventLoop, onCall, resolver, timeoutMs, onProbe } = options;
  const bulkheads = new Map<string, Bulkhead>();
  const transport = new Transport(resolver);
  const health = new ServiceHealth({
    ...options,
    tools: { resolver, eventLoop, timeoutMs, ...(onProbe && { onProbe }) },
  });
  const pauses = new Pauses();
  const { quotaLimits: limits, quotaStore: store, onQuotaRefused: onRefused } = options;
  const quota = limits && new Quota({ service, limits, store, onRefused });

  function bulkheadFor(region: string): Bulkhead {
    const known = bulkheads.get(region);
    if (known) return known;
    const bulkhead = new Bulkhead(options.upstreamMaxInFlight, options.upstreamMaxQueue);
    bulkheads.set(region, bulkhead);
    return bulkhead;
  }

  const shared: CallService = { service, bulkheadFor, transport, health, pauses, quota, eventLoop, onCall };
  return {
    post: (request) => {
      const { reason } = request.context.cancellation;
      if (reason) return Promise.reject(reason);
      return new Promise((resolve, reject) => {
        health.find(request.account)?.check();
        pauses.check(request.account);
        quota?.check(request.account);
        new Call(request, shared, resolve, reject);
      });
    },
    health,
    bulkheads: () => bulkheads,
    quotaStates: () => quota?.states() ?? [],
    close: () => {
      health.close();
      return transport.close();
    },
  };
}
