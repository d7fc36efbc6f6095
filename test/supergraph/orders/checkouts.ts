import { setTimeout } from 'node:timers/promises';
import type { Checkout, Database } from './database.ts';
import type { Judge } from './device-trust.ts';

/** Each checkout is judged once, because each judgement is an event, and a token that is asked about again looks reused. */

/** After this many ms without a judgement, whoever asked has ended. Longer than the deadline of a question. */
const LEASE_MS = 10_000;
const POLL_MS = 50;

/**
 * Gives a function that lets a checkout be judged, and returns it as it is then. It is judged with the first token that can be.
 * While another request asks, at whatever replica, this one waits for the judgement. The checkout stays as it is if its token
 * is rejected, or if device-trust is unavailable: the next try asks again.
 */
export function createJudging(database: Database, judge: Judge) {
  return async ({ id, customerId }: Checkout, deviceToken: string): Promise<Checkout> => {
    for (let isFirst = true; ; isFirst = false) {
      const checkout = database.find(id);
      if (!checkout) throw new Error('expected the checkout that was recorded, but got none');
      const isAsked = isFirst || checkout.askedAt > 0;
      if (checkout.sealed !== null || checkout.orderId !== null || !isAsked) return checkout;
      const now = Date.now();
      // The claim comes before the question, so that two replicas cannot both ask.
      if (database.claim(id, now, now - LEASE_MS)) {
        database.judged(id, now, await judge(deviceToken, customerId).catch(() => 'OUTAGE' as const));
      } else {
        await setTimeout(POLL_MS);
      }
    }
  };
}
