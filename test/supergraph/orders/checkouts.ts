import type { DatabaseSync } from 'node:sqlite';
import { v7 as uuidV7 } from 'uuid';
import type { Judge, Judgement } from './device-trust.ts';

/** Each checkout is judged once, because each judgement is an event, and a token that is asked about again looks reused. */

/**
 * While `sealed` is null, somebody asks since `asked_at`, in ms, and nobody if that is 0. `outcome` is CHALLENGED or the code of
 * a refusal; a checkout that was placed has its order. The token is a credential, which is kept for analysts who ask again: set
 * it to null as soon as they may not.
 */
export const CHECKOUTS_TABLE = `
  CREATE TABLE IF NOT EXISTS checkouts (
    id TEXT PRIMARY KEY,
    customer_id TEXT NOT NULL,
    checkout_id TEXT NOT NULL,
    item TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    outcome TEXT,
    asked_at BIGINT NOT NULL DEFAULT 0,
    device_token TEXT,
    sealed TEXT,
    action TEXT,
    device_id TEXT,
    UNIQUE (customer_id, checkout_id)
  );
  CREATE INDEX IF NOT EXISTS checkouts_by_device ON checkouts (device_id, id);
`;

/** After this many ms without a judgement, whoever asked has ended. Longer than the deadline of a question. */
const LEASE_MS = 30_000;

/** A try to buy something. The same customer and `checkoutId` are the same checkout. */
export interface CheckoutTry {
  readonly customerId: string;
  readonly checkoutId: string;
  readonly item: string;
  readonly deviceToken: string;
}

export interface Checkouts {
  /** Records the checkout, with what is wanted now. */
  start(checkout: CheckoutTry): void;
  /**
   * Gives the judgement of a checkout that was recorded. It is made with the first token that can be judged. Undefined if there
   * is none, or none yet: the token is rejected, device-trust is unavailable, or another replica is asking. The next try asks
   * again.
   */
  judgementOf(checkout: CheckoutTry): Promise<Judgement | undefined>;
  /** Records what the customer was answered, unless the order was placed: CHALLENGED, or the code of a refusal. */
  end(checkout: CheckoutTry, outcome: string): void;
}

/**
 * @param database has the table of checkouts, which all replicas share
 * @param judge asks for a judgement; without it there is never one
 */
export function createCheckouts(database: DatabaseSync, judge: Judge | undefined): Checkouts {
  const statements = {
    // The id begins with the time, so the newest checkout has the greatest one.
    start:
      database.prepare(`INSERT INTO checkouts (id, customer_id, checkout_id, item, started_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (customer_id, checkout_id) DO UPDATE SET item = excluded.item`),
    find: database.prepare(`SELECT sealed, action, device_id AS "deviceId" FROM checkouts
      WHERE customer_id = ? AND checkout_id = ? AND sealed IS NOT NULL`),
    claim: database.prepare(`UPDATE checkouts SET asked_at = ?, device_token = ?
      WHERE customer_id = ? AND checkout_id = ? AND sealed IS NULL AND asked_at < ?`),
    store: database.prepare(`UPDATE checkouts SET sealed = ?, action = ?, device_id = ?
      WHERE customer_id = ? AND checkout_id = ? AND sealed IS NULL`),
    release: database.prepare(
      'UPDATE checkouts SET asked_at = 0 WHERE customer_id = ? AND checkout_id = ? AND sealed IS NULL',
    ),
    end: database.prepare('UPDATE checkouts SET outcome = ? WHERE customer_id = ? AND checkout_id = ?'),
  };
  // Sound: only `store` writes these columns, and all three at once.
  const find = (...key: [string, string]) => statements.find.get(...key) as Judgement | undefined;
  /** The questions under way in this process, for tries of the same checkout at the same moment. */
  const asking = new Map<string, Promise<Judgement | undefined>>();

  /** Asks, unless somebody else asks already. */
  async function ask(judge: Judge, { customerId, checkoutId, deviceToken }: CheckoutTry) {
    const now = Date.now();
    // The claim comes before the question, so that two replicas cannot both ask.
    if (statements.claim.run(now, deviceToken, customerId, checkoutId, now - LEASE_MS).changes === 0) {
      return find(customerId, checkoutId);
    }
    // Without a judgement the customer has to solve a captcha, so the reason makes no difference.
    const judgement = await judge(deviceToken, customerId, 'checkout').catch(() => undefined);
    if (judgement) {
      const { sealed, action, deviceId } = judgement;
      statements.store.run(sealed, action, deviceId, customerId, checkoutId);
    } else {
      statements.release.run(customerId, checkoutId);
    }
    return find(customerId, checkoutId);
  }

  return {
    start: ({ customerId, checkoutId, item }) =>
      void statements.start.run(uuidV7(), customerId, checkoutId, item, Date.now()),
    async judgementOf(checkout) {
      const { customerId, checkoutId } = checkout;
      const stored = find(customerId, checkoutId);
      if (stored || !judge) return stored;
      // Neither part can contain a blank.
      const key = `${customerId} ${checkoutId}`;
      const underWay = asking.get(key) ?? ask(judge, checkout);
      asking.set(key, underWay);
      return underWay.finally(() => asking.delete(key));
    },
    end: ({ customerId, checkoutId }, outcome) => void statements.end.run(outcome, customerId, checkoutId),
  };
}
