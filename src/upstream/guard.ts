import {
  BrokenCircuitError,
  BulkheadRejectedError,
  bulkhead,
  CircuitState,
  CountBreaker,
  circuitBreaker,
  handleWhenResult,
} from 'cockatiel';
import { DeviceTrustError } from '../errors.ts';

/** What protects one upstream in one region from us, and us from it. */
export interface Guard<Answer> {
  /**
   * Makes a call if the upstream is well and there is room for it. One that is a probe finds out for everybody whether the
   * upstream is well again, so it must not end when its caller hangs up.
   *
   * @throws DeviceTrustError OVERLOADED if there is no room, UPSTREAM_UNAVAILABLE while the breaker is open: nothing sent
   */
  run(call: (isProbe: boolean) => Promise<Answer>): Promise<Answer>;
  /** How it stands now. */
  state(): GuardState;
}

interface GuardState {
  readonly inFlight: number;
  readonly queued: number;
  /** Also while it probes. */
  readonly isOpen: boolean;
}

/** What a guard has to know of its upstream. */
interface GuardOptions<Answer> {
  /** Calls under way at once. */
  readonly inFlight: number;
  /** Calls that may wait for one of those to end. */
  readonly queue: number;
  /** Does this answer say that the upstream itself is unwell? Never true for what a caller can bring about. */
  readonly isFault: (answer: Answer) => boolean;
  /** Told when the breaker opens or closes. */
  readonly onBreaker: (state: 'open' | 'closed') => void;
}

/** The breaker opens when more than half of the last 50 calls failed, once there were 20. */
const SAMPLE = { threshold: 0.5, size: 50, minimumNumberOfCalls: 20 };

/** How long it stays open before one call is let through to find out, in ms. */
const PROBE_AFTER_MS = 1_000;

/** Codes by which a call that got no answer speaks against the upstream. */
const FAULTS: ReadonlySet<string> = new Set(['UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_PROTOCOL_ERROR']);

/** A closed breaker before an empty bulkhead. */
export function createGuard<Answer>({ inFlight, queue, isFault, onBreaker }: GuardOptions<Answer>): Guard<Answer> {
  const room = bulkhead(inFlight, queue);
  const isProbing = () => breaker.state === CircuitState.HalfOpen;
  const breaker = circuitBreaker(
    // The policy's result has no type of its own here. Sound: only answers of `call` come out of `room`.
    handleWhenResult((answer) => isFault(answer as Answer)).orWhen((error) => {
      if (error instanceof DeviceTrustError && FAULTS.has(error.code)) return true;
      // To the library anything else is a success. A probe that found no room proves nothing.
      return isProbing();
    }),
    { halfOpenAfter: PROBE_AFTER_MS, breaker: new CountBreaker(SAMPLE) },
  );
  let isShut = false;
  breaker.onBreak(() => {
    // A probe that fails opens it once more, which is no news.
    if (!isShut) onBreaker('open');
    isShut = true;
  });
  breaker.onReset(() => {
    isShut = false;
    onBreaker('closed');
  });

  async function run(call: (isProbe: boolean) => Promise<Answer>): Promise<Answer> {
    // One probe at a time. Left to the library, everyone else would wait for its outcome.
    if (isProbing()) throw new DeviceTrustError('UPSTREAM_UNAVAILABLE', { internal: 'circuit breaker is probing' });
    try {
      return await breaker.execute(() => {
        const isProbe = isProbing();
        return room.execute(() => call(isProbe));
      });
    } catch (error) {
      if (error instanceof BulkheadRejectedError) throw new DeviceTrustError('OVERLOADED');
      if (!(error instanceof BrokenCircuitError)) throw error;
      throw new DeviceTrustError('UPSTREAM_UNAVAILABLE', { internal: 'circuit breaker is open' });
    }
  }
  const state = () => ({
    inFlight: inFlight - room.executionSlots,
    queued: queue - room.queueSlots,
    isOpen: breaker.state !== CircuitState.Closed,
  });
  return { run, state };
}
