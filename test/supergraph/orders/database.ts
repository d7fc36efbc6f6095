import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { v7 as uuidV7 } from 'uuid';
import { MEMORY_S } from '../../../schema/recipes/attestation.ts';
import type { Judgement } from './device-trust.ts';
import type { Item } from './goods.ts';

/** The tables of the shop, in SQLite. For Postgres, `?` becomes `$1`, `BEGIN IMMEDIATE` becomes `BEGIN`, and the pragma goes. */

/**
 * A checkout is asked about since `asked_at`, in ms, and by nobody if that is 0. It has an `order_id` once it is placed. Until
 * the customer has an answer, `outcome` is null. No column has the device's token, which is a credential.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS checkouts (
    id TEXT PRIMARY KEY,
    customer_id TEXT NOT NULL,
    checkout_id TEXT NOT NULL,
    item TEXT NOT NULL,
    price_cents INTEGER NOT NULL,
    started_at BIGINT NOT NULL,
    asked_at BIGINT NOT NULL DEFAULT 0,
    decision TEXT NOT NULL DEFAULT 'NOT_JUDGED',
    not_judged TEXT,
    sealed TEXT,
    device_id TEXT,
    request_id TEXT,
    outcome TEXT,
    captcha TEXT,
    order_id TEXT UNIQUE,
    UNIQUE (customer_id, checkout_id)
  );
  CREATE INDEX IF NOT EXISTS checkouts_by_device ON checkouts (device_id, order_id);
  CREATE TABLE IF NOT EXISTS spent_attestations (jti TEXT PRIMARY KEY, at BIGINT NOT NULL);
`;
const CHECKOUT = `SELECT id, customer_id AS "customerId", item, price_cents AS "priceCents", started_at AS "startedAt",
  asked_at AS "askedAt", decision, not_judged AS "notJudged", sealed, request_id AS "requestId", outcome, captcha, order_id AS "orderId"
  FROM checkouts`;

/** A try to buy something, which is an order once it is placed. */
export interface Checkout {
  readonly id: string;
  readonly customerId: string;
  readonly item: string;
  readonly priceCents: number;
  /** In ms since 1970. */
  readonly startedAt: number;
  /** Since when its device is asked about, in ms since 1970; 0 if it is not. */
  readonly askedAt: number;
  readonly decision: Judgement['action'] | 'NOT_JUDGED';
  /** Why there is no judgement; null if there is one, or nobody asked. No outage takes the place of a token that was rejected. */
  readonly notJudged: NotJudged | null;
  /** What was judged: the sealed text of the judgement. */
  readonly sealed: string | null;
  /** By which the subgraph's log has the judgement. */
  readonly requestId: string | null;
  /** What the customer was answered last. */
  readonly outcome: 'PLACED' | 'CHALLENGED' | OrderRefusalCode | null;
  /** Null if it was never asked for. */
  readonly captcha: Captcha | null;
  readonly orderId: string | null;
}

export type NotJudged = 'TOKEN_REJECTED' | 'OUTAGE';
export type OrderRefusalCode = 'UNKNOWN_ITEM' | 'UNVERIFIED' | 'UNDER_REVIEW';
export type Captcha = 'NOT_SOLVED' | 'VERIFIED' | 'UNVERIFIED';

export type Database = ReturnType<typeof openDatabase>;

/**
 * Opens the database. Whoever opens one closes it.
 *
 * @param file its path; `:memory:` keeps it in this process
 */
export function openDatabase(file: string) {
  // Other replicas may hold the lock for a moment.
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec(`PRAGMA journal_mode = WAL; ${TABLES}`);
  const prepare = (sql: string) => database.prepare(sql);
  const spend = prepare('INSERT INTO spent_attestations (jti, at) VALUES (?, ?) ON CONFLICT DO NOTHING');
  const forget = prepare('DELETE FROM spent_attestations WHERE at < ?');
  const find = prepare(`${CHECKOUT} WHERE id = ?`);
  const tried = prepare(`${CHECKOUT} WHERE customer_id = ? AND checkout_id = ?`);
  const order = prepare(`${CHECKOUT} WHERE order_id = ?`);
  // The newest hundred, by time: whoever orders without end must not make an analyst's answer too large.
  const ordersBy = (column: string) =>
    prepare(
      `SELECT * FROM (${CHECKOUT} WHERE ${column} = ? AND order_id IS NOT NULL ORDER BY id DESC LIMIT 100) ORDER BY id`,
    );
  const [ordersFrom, ordersOf] = [ordersBy('device_id'), ordersBy('customer_id')];
  // An id begins with the time, so the newest checkout has the greatest one.
  const newest = prepare(`${CHECKOUT} WHERE outcome IS NOT NULL ORDER BY id DESC LIMIT ?`);
  const start = prepare(`INSERT INTO checkouts (id, customer_id, checkout_id, item, price_cents, started_at)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const claim = prepare(`UPDATE checkouts SET asked_at = ?
    WHERE id = ? AND sealed IS NULL AND order_id IS NULL AND asked_at < ?`);
  const judged = prepare(`UPDATE checkouts SET asked_at = 0, sealed = ?, decision = ?, device_id = ?, request_id = ?,
    not_judged = NULL WHERE id = ? AND asked_at = ? AND order_id IS NULL`);
  const notJudged = prepare(`UPDATE checkouts SET asked_at = 0,
    not_judged = CASE not_judged WHEN 'TOKEN_REJECTED' THEN not_judged ELSE ? END
    WHERE id = ? AND asked_at = ? AND order_id IS NULL`);
  const end = prepare(`UPDATE checkouts SET outcome = ?, captcha = COALESCE(?, captcha)
    WHERE id = ? AND order_id IS NULL`);
  const place = prepare(`UPDATE checkouts SET outcome = 'PLACED', captcha = COALESCE(?, captcha), order_id = ?
    WHERE id = ? AND order_id IS NULL AND decision = ?`);

  // The columns are named like the fields, and the tables hold nothing that was not inserted above.
  return {
    find: (id: string) => find.get(id) as Checkout | undefined,
    tried: (customerId: string, checkoutId: string) => tried.get(customerId, checkoutId) as Checkout | undefined,
    order: (orderId: string) => order.get(orderId) as Checkout | undefined,
    ordersOf: (customerId: string) => ordersOf.all(customerId) as unknown as Checkout[],
    ordersFrom: (deviceId: string) => ordersFrom.all(deviceId) as unknown as Checkout[],
    /** Those that were answered, newest first. */
    newest: (first: number) => newest.all(first) as unknown as Checkout[],
    /** Records a checkout, unless it is. */
    start(customerId: string, checkoutId: string, { name, priceCents }: Item) {
      start.run(uuidV7(), customerId, checkoutId, name, priceCents, Date.now());
      return tried.get(customerId, checkoutId) as unknown as Checkout;
    },
    /** May the caller ask about it? Somebody who began before `expiry` has ended. */
    claim: (id: string, now: number, expiry: number) => claim.run(now, id, expiry).changes === 1,
    /** Records the answer to the question that was claimed at this time, unless the claim has passed to somebody else. */
    judged(id: string, claimedAt: number, judgement: Judgement | NotJudged) {
      if (typeof judgement === 'string') notJudged.run(judgement, id, claimedAt);
      else {
        const { sealed, action, deviceId, requestId } = judgement;
        judged.run(sealed, action, deviceId, requestId, id, claimedAt);
      }
    },
    /** Records what the customer was answered instead of an order. */
    end: (id: string, outcome: string, captcha: Captcha | null) => void end.run(outcome, captcha, id),
    /**
     * The order and the attestation: both of them change, or none. None does if the checkout was placed before, or if its
     * decision is another one by now.
     *
     * @param jti of the attestation, if the order needs one
     */
    place({ id, decision }: Checkout, captcha: Captcha | null, jti?: string, orderId = `order-${randomUUID()}`) {
      database.exec('BEGIN IMMEDIATE');
      try {
        if (place.run(captcha, orderId, id, decision).changes === 0) return 'CHANGED';
        forget.run(Date.now() - MEMORY_S * 1_000);
        if (jti !== undefined && spend.run(jti, Date.now()).changes === 0) return 'SPENT';
        database.exec('COMMIT');
        return 'PLACED';
      } finally {
        if (database.isTransaction) database.exec('ROLLBACK');
      }
    },
    close: () => database.close(),
  };
}
