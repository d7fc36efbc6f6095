import { BrokenCircuitError, CircuitState, CountBreaker, circuitBreaker, handleWhenResult } from 'cockatiel';
import { DeviceTrustError } from '../errors.ts';
import { Bulkhead, type Leave } from './bulkhead.ts';

/** What protects one upstream in one region from us, and us from it. */
export interface Guard<Answer> {
  /**
   * Makes a call if the upstream is well and there is room for it. One that is a probe finds out for everybody whether the
   * upstream is well again, so it must not end when its caller hangs up.
   *
   * @param onWait told how to stop waiting, if the call has to wait for room
   * @throws DeviceTrustError OVERLOADED if there is no room, CANCELLED if it waits no more, UPSTREAM_UNAVAILABLE while the breaker is open: nothing sent
   */
  run(call: (isProbe: boolean) => Promise<Answer>, onWait: (leave: Leave) => void): Promise<Answer>;
  /** How it stands now. */
  state(): GuardState;
}

export interface GuardState {
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

/** How a call ended, and whether that speaks against the upstream. */
type Outcome<Answer> = ({ readonly answer: Answer } | { readonly error: unknown }) & { readonly isFault: boolean };

/** A closed breaker before an empty bulkhead. */
export function createGuard<Answer>({ inFlight, queue, isFault, onBreaker }: GuardOptions<Answer>): Guard<Answer> {
  const room = new Bulkhead(inFlight, queue);
  const breaker = circuitBreaker(
    // The policy's result has no type of its own here. Sound: it only executes `attempt`.
    handleWhenResult((outcome) => (outcome as Outcome<Answer>).isFault),
    { halfOpenAfter: PROBE_AFTER_MS, breaker: new CountBreaker(SAMPLE) },
  );
  const isProbing = () => breaker.state === CircuitState.HalfOpen;
  let timesOpened = 0;
  let isShut = false;
  breaker.onBreak(() => {
    timesOpened += 1;
    // A probe that fails opens it once more, which is no news.
    if (!isShut) onBreaker('open');
    isShut = true;
  });
  breaker.onReset(() => {
    isShut = false;
    onBreaker('closed');
  });

  /**
   * Judged here and not by the library, to which a call of before the breaker opened, failing at last, would be one of now:
   * it would put an end to a probe, or open the breaker again right after one went well.
   */
  async function attempt(
    call: (isProbe: boolean) => Promise<Answer>,
    onWait: (leave: Leave) => void,
  ): Promise<Outcome<Answer>> {
    const isProbe = isProbing();
    const openedBefore = timesOpened;
    try {
      const answer = await room.run(() => call(isProbe), onWait);
      return { answer, isFault: openedBefore === timesOpened && isFault(answer) };
    } catch (error) {
      // A probe that came to no answer, be it that it found no room, proves nothing; any other such call does not count.
      const speaksAgainst = isProbe || (error instanceof DeviceTrustError && FAULTS.has(error.code));
      if (openedBefore === timesOpened && speaksAgainst) return { error, isFault: true };
      throw error;
    }
  }

  async function run(call: (isProbe: boolean) => Promise<Answer>, onWait: (leave: Leave) => void): Promise<Answer> {
    // One probe at a time. Left to the library, everyone else would wait for its outcome.
    if (isProbing()) throw new DeviceTrustError('UPSTREAM_UNAVAILABLE', { internal: 'circuit breaker is probing' });
    try {
      const outcome = await breaker.execute(() => attempt(call, onWait));
      if ('error' in outcome) throw outcome.error;
      return outcome.answer;
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error;
      throw new DeviceTrustError('UPSTREAM_UNAVAILABLE', { internal: 'circuit breaker is open' });
    }
  }
  const state = () => ({
    inFlight: room.inFlight,
    queued: room.queued,
    isOpen: breaker.state !== CircuitState.Closed,
  });
  return { run, state };
}
