import type { DatabaseSync } from 'node:sqlite';
import type { Judge, Judgement } from './device-trust.ts';

/** Each checkout is judged once, because each judgement is an event, and a token that is asked about again looks reused. */

/** A row without `sealed` says that somebody asks since `asked_at`. */
export const JUDGEMENTS_TABLE = `
  CREATE TABLE IF NOT EXISTS judgements (
    customer_id TEXT NOT NULL,
    checkout_id TEXT NOT NULL,
    asked_at BIGINT NOT NULL,
    sealed TEXT,
    action TEXT,
    device_id TEXT,
    PRIMARY KEY (customer_id, checkout_id)
  );
`;

/** After this many ms without a judgement, whoever asked has ended. Longer than the deadline of a question. */
const LEASE_MS = 30_000;

export interface JudgedCheckouts {
  /**
   * The judgement of this checkout, which is made with the first token that can be judged. Undefined if there is none, or
   * none yet: the token is rejected, device-trust is unavailable, or another replica is asking. The next try asks again.
   */
  judgementOf(customerId: string, checkoutId: string, deviceToken: string): Promise<Judgement | undefined>;
}

/**
 * @param database has the table of judgements, which all replicas share
 * @param judge asks for a judgement; without it there is never one
 */
export function createJudgedCheckouts(database: DatabaseSync, judge: Judge | undefined): JudgedCheckouts {
  const statements = {
    find: database.prepare(`SELECT sealed, action, device_id AS "deviceId" FROM judgements
      WHERE customer_id = ? AND checkout_id = ? AND sealed IS NOT NULL`),
    claim: database.prepare(`INSERT INTO judgements (customer_id, checkout_id, asked_at) VALUES (?, ?, ?)
      ON CONFLICT (customer_id, checkout_id) DO UPDATE SET asked_at = excluded.asked_at
      WHERE judgements.sealed IS NULL AND judgements.asked_at < excluded.asked_at - ${LEASE_MS}`),
    store: database.prepare(`UPDATE judgements SET sealed = ?, action = ?, device_id = ?
      WHERE customer_id = ? AND checkout_id = ? AND sealed IS NULL`),
    release: database.prepare('DELETE FROM judgements WHERE customer_id = ? AND checkout_id = ? AND sealed IS NULL'),
  };
  // Sound: only `store` writes these columns, and all three at once.
  const find = (...key: [string, string]) => statements.find.get(...key) as Judgement | undefined;
  /** The questions under way in this process, for tries of the same checkout at the same moment. */
  const asking = new Map<string, Promise<Judgement | undefined>>();

  /** Asks, unless somebody else asks already. */
  async function ask(judge: Judge, customerId: string, checkoutId: string, token: string) {
    // The row comes before the question, so that two replicas cannot both ask.
    if (statements.claim.run(customerId, checkoutId, Date.now()).changes === 0) return find(customerId, checkoutId);
    // Without a judgement the customer has to solve a captcha, so the reason makes no difference.
    const judgement = await judge(token, customerId).catch(() => undefined);
    if (judgement) {
      const { sealed, action, deviceId } = judgement;
      statements.store.run(sealed, action, deviceId, customerId, checkoutId);
    } else {
      statements.release.run(customerId, checkoutId);
    }
    return find(customerId, checkoutId);
  }

  return {
    async judgementOf(customerId, checkoutId, deviceToken) {
      const stored = find(customerId, checkoutId);
      if (stored || !judge) return stored;
      // Neither part can contain a blank.
      const key = `${customerId} ${checkoutId}`;
      const underWay = asking.get(key) ?? ask(judge, customerId, checkoutId, deviceToken);
      asking.set(key, underWay);
      return underWay.finally(() => asking.delete(key));
    },
  };
}
