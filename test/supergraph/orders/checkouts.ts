import type { Checkout, Database } from './database.ts';
import type { Judge } from './device-trust.ts';

/** Each checkout is judged once, because each judgement is an event, and a token that is asked about again looks reused. */

/** After this many ms without a judgement, whoever asked has ended. Longer than the deadline of a question. */
const LEASE_MS = 30_000;

/**
 * Gives a function that lets a checkout be judged, and returns it as it is then. It is judged with the first token that can be.
 * It stays as it is if its token is rejected, if device-trust is unavailable, or while another replica asks: the next try asks
 * again.
 */
export function createJudging(database: Database, judge: Judge) {
  /** The questions under way in this process, for tries of the same checkout at the same moment. */
  const asking = new Map<string, Promise<void>>();

  async function ask({ id, customerId }: Checkout, deviceToken: string): Promise<void> {
    const now = Date.now();
    // The claim comes before the question, so that two replicas cannot both ask.
    if (!database.claim(id, now, now - LEASE_MS)) return;
    database.judged(id, await judge(deviceToken, customerId).catch(() => 'OUTAGE' as const));
  }

  return async (checkout: Checkout, deviceToken: string): Promise<Checkout> => {
    const { id, sealed } = checkout;
    if (sealed !== null) return checkout;
    const underWay = asking.get(id) ?? ask(checkout, deviceToken);
    asking.set(id, underWay);
    await underWay.finally(() => asking.delete(id));
    return database.find(id) ?? checkout;
  };
}
