import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'undici';
import type { Account } from './transport.ts';

/** How long the witness is idle in each step, in ms. Most services keep a connection for 5 to 75 s. */
const STEPS_MS = [2_000, 4_000, 12_000, 50_000];
/** How long a connection may be idle before anything is proven, in ms: nearly every service keeps it longer. */
const UNPROVEN_MS = 500;
/** The time between rounds while calls come, and before a round that is needed sooner, in ms. */
const [AGAIN_MS, SOON_MS] = [5 * 60_000, 10_000];
/** Longer than the witness is idle, in ms. */
const KEPT_MS = 2 * 50_000;
/** How long an answer may take on a connection that a firewall may have dropped silently, in ms. */
const ANSWER_MS = 5_000;

/** How long a connection may be idle and then serve a call, in ms, if an idle one was kept for `provenMs`. */
export const idleMsAfter = (provenMs: number): number => Math.max(UNPROVEN_MS, (provenMs * 3) / 4);

export type WitnessProbe = Pick<Account, 'path' | 'headers'> & { readonly body: () => string };

/**
 * Finds out how long a service keeps idle connections, by one that serves no call: its end costs nobody an answer. A probe after each
 * step shows that no firewall has dropped it silently. The answers say nothing about the health of the service.
 */
export function createWitness({ path, headers, body }: WitnessProbe, open: (keeping: Client.Options) => Client) {
  let provenMs = 0;
  /* On the clock of `performance.now()`. */
  let [startedAt, dueAt] = [0, 0];
  let isUnderWay = false;

  async function watch(client: Client): Promise<void> {
    const ended = new AbortController();
    client.once('disconnect', () => ended.abort());
    const isAnswered = () =>
      client
        .request({ method: 'POST', path, headers, body: body(), signal: AbortSignal.timeout(ANSWER_MS) })
        .then(({ body }) => body.dump())
        // If it has ended, undici has opened another connection.
        .then(
          () => !ended.signal.aborted,
          () => false,
        );
    if (!(await isAnswered())) return;
    let keptMs = 0;
    for (const ms of STEPS_MS) {
      const idleSince = performance.now();
      const isOpen = await sleep(ms, true, { ref: false, signal: ended.signal }).catch(() => false);
      if (isOpen && (await isAnswered())) {
        keptMs = ms;
        provenMs = Math.max(provenMs, ms);
        continue;
      }
      // A close that arrives shows that the path was open until then; silence shows nothing.
      provenMs = isOpen ? keptMs : Math.max(keptMs, performance.now() - idleSince);
      return;
    }
  }

  return {
    /** How long an idle connection of a call may wait for the next one, in ms. */
    get idleMs(): number {
      return idleMsAfter(provenMs);
    },
    /** At each call, starts a round if one is due, so that an origin without calls has no witness. */
    recordCall(): void {
      if (isUnderWay || performance.now() < dueAt) return;
      isUnderWay = true;
      startedAt = performance.now();
      dueAt = startedAt + AGAIN_MS;
      // undici does not end it, whatever Keep-Alive says.
      const client = open({
        keepAliveTimeout: KEPT_MS,
        keepAliveMaxTimeout: KEPT_MS,
        keepAliveTimeoutThreshold: -KEPT_MS,
      });
      void watch(client).finally(() => {
        isUnderWay = false;
        if (provenMs === 0) dueAt = startedAt + SOON_MS;
        return client.destroy();
      });
    },
    /** The other side has ended a connection of calls that was idle for this long. */
    recordEnd(idleMs: number): void {
      if (idleMs >= provenMs) return;
      provenMs = idleMs;
      dueAt = Math.min(dueAt, startedAt + SOON_MS);
    },
  };
}
