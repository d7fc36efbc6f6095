import { BrokenCircuitError, CircuitState, CountBreaker, circuitBreaker, handleWhenResult } from 'cockatiel';
import { DeviceTrustError } from '../errors.ts';
import { Bulkhead, type Dequeue } from './bulkhead.ts';
import { AccountPausedError } from './pauses.ts';
import type { UpstreamResponse } from './transport.ts';

/** The circuit breaker and the bulkhead of one upstream service in one region. */
export interface Policy {
  /**
   * Makes a call if the circuit breaker is closed, as soon as the bulkhead admits it. After an outage one call is the
   * probe: its outcome decides for all others, so it must not end when its own client disconnects.
   *
   * @param onQueued receives the function that removes the call from the queue, if the call has to wait
   * @throws DeviceTrustError, with nothing sent: OVERLOADED if the queue is full, CANCELLED if the call was removed
   *   from it, UPSTREAM_UNAVAILABLE while the circuit breaker is open
   */
  run(
    call: (isProbe: boolean) => Promise<UpstreamResponse>,
    onQueued: (dequeue: Dequeue) => void,
  ): Promise<UpstreamResponse>;
  state(): PolicyState;
}

/** A policy at one moment. */
export interface PolicyState {
  /** Calls under way. */
  readonly inFlight: number;
  /** Calls that wait for one of those to end. */
  readonly queued: number;
  /** Is the circuit breaker open? True also while it probes. */
  readonly isOpen: boolean;
}

/** What a circuit breaker has changed to. */
export type BreakerState = 'open' | 'closed';

interface PolicyOptions {
  /** Calls that may be under way at once. */
  readonly maxInFlight: number;
  /** Calls that may wait for one of those to end. */
  readonly maxQueue: number;
  /** Does this response show that the service itself has failed? Never true for what a client can provoke. */
  readonly isFault: (response: UpstreamResponse) => boolean;
  /** Called when the circuit breaker opens or closes. */
  readonly onBreaker: (state: BreakerState) => void;
}

/** The circuit breaker opens when more than half of the last 50 calls failed, after the first 20. */
const SAMPLE = { threshold: 0.5, size: 50, minimumNumberOfCalls: 20 };

/** How long the circuit breaker stays open before it admits a probe, in ms. */
const PROBE_AFTER_MS = 1_000;

/** Codes of calls without a response that count as faults of the upstream. */
const FAULTS: ReadonlySet<string> = new Set(['UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_PROTOCOL_ERROR']);

/** How a call ended, and whether that counts as a fault of the upstream. */
type Outcome = ({ readonly response: UpstreamResponse } | { readonly error: unknown }) & { readonly isFault: boolean };

/** A policy with a closed circuit breaker and an empty bulkhead. */
export function createPolicy({ maxInFlight, maxQueue, isFault, onBreaker }: PolicyOptions): Policy {
  const bulkhead = new Bulkhead(maxInFlight, maxQueue);
  const breaker = circuitBreaker(
    // cockatiel gives the result no type here. Sound: this breaker executes nothing but `attempt`.
    handleWhenResult((outcome) => (outcome as Outcome).isFault),
    { halfOpenAfter: PROBE_AFTER_MS, breaker: new CountBreaker(SAMPLE) },
  );
  const isProbing = () => breaker.state === CircuitState.HalfOpen;
  let timesOpened = 0;
  let isOpen = false;
  breaker.onBreak(() => {
    timesOpened += 1;
    // cockatiel opens it again after each probe that fails, but nothing has changed then.
    if (!isOpen) onBreaker('open');
    isOpen = true;
  });
  breaker.onReset(() => {
    isOpen = false;
    onBreaker('closed');
  });

  /**
   * Makes a call and decides whether its outcome counts as a fault. cockatiel alone would also count a call that began
   * before the breaker opened and failed long after. That would end a probe, or open the breaker again right after a probe
   * has succeeded.
   */
  async function attempt(
    call: (isProbe: boolean) => Promise<UpstreamResponse>,
    onQueued: (dequeue: Dequeue) => void,
  ): Promise<Outcome> {
    const isProbe = isProbing();
    const timesOpenedBefore = timesOpened;
    try {
      const response = await bulkhead.run(() => call(isProbe), onQueued);
      return { response, isFault: timesOpenedBefore === timesOpened && isFault(response) };
    } catch (error) {
      // A probe without a response keeps the breaker open, whatever the reason. Any other call counts only if its code
      // is a fault of the upstream.
      const isFaultOfUpstream =
        error instanceof DeviceTrustError && FAULTS.has(error.code) && !(error instanceof AccountPausedError);
      const countsAsFault = isProbe || isFaultOfUpstream;
      if (timesOpenedBefore === timesOpened && countsAsFault) return { error, isFault: true };
      throw error;
    }
  }

  async function run(
    call: (isProbe: boolean) => Promise<UpstreamResponse>,
    onQueued: (dequeue: Dequeue) => void,
  ): Promise<UpstreamResponse> {
    // One probe at a time. cockatiel would make all other calls wait for its outcome.
    if (isProbing()) throw new DeviceTrustError('UPSTREAM_UNAVAILABLE', { internal: 'circuit breaker is probing' });
    try {
      const outcome = await breaker.execute(() => attempt(call, onQueued));
      if ('error' in outcome) throw outcome.error;
      return outcome.response;
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error;
      throw new DeviceTrustError('UPSTREAM_UNAVAILABLE', { internal: 'circuit breaker is open' });
    }
  }

  const state = () => ({
    inFlight: bulkhead.inFlight,
    queued: bulkhead.queued,
    isOpen: breaker.state !== CircuitState.Closed,
  });
  return { run, state };
}
