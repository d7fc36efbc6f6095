import { randomUUID } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { CHECKOUTS_TABLE, createCheckouts } from './checkouts.ts';
import { createDesk, LATER_JUDGEMENTS_TABLE } from './desk.ts';
import type { Judge, Judgement } from './device-trust.ts';
import { ITEMS, type Item, type Order, type Seed } from './goods.ts';

/** The tables of the shop, in SQLite. Every statement but the pragma is one that Postgres takes as well. */

const TABLES = `
  CREATE TABLE IF NOT EXISTS items (
    name TEXT PRIMARY KEY,
    price_cents INTEGER NOT NULL,
    stock INTEGER NOT NULL CHECK (stock >= 0)
  );
  CREATE TABLE IF NOT EXISTS orders (
    id TEXT PRIMARY KEY,
    customer_id TEXT NOT NULL,
    checkout_id TEXT NOT NULL,
    item TEXT NOT NULL,
    price_cents INTEGER NOT NULL,
    status TEXT NOT NULL,
    device_id TEXT,
    sealed TEXT,
    UNIQUE (customer_id, checkout_id)
  );
  CREATE INDEX IF NOT EXISTS orders_by_device ON orders (device_id);
  CREATE TABLE IF NOT EXISTS spent_attestations (
    jti TEXT PRIMARY KEY,
    order_id TEXT NOT NULL REFERENCES orders (id)
  );
`;
const ORDER = `SELECT id, item, price_cents AS "priceCents", status, customer_id AS "customerId",
  device_id AS "deviceId", sealed FROM orders`;
const INSERT_ORDER = `INSERT INTO orders
  (id, customer_id, checkout_id, item, price_cents, status, device_id, sealed)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

/** What a customer wants, once it is decided that they may have it. */
export interface Purchase {
  readonly customerId: string;
  readonly checkoutId: string;
  readonly item: Item;
  /** Of the device that it is ordered from, if there is one. */
  readonly judgement: Judgement | undefined;
  /** Of the attestation, if the order needs one. */
  readonly jti: string | undefined;
}

export type Database = ReturnType<typeof openDatabase>;

/**
 * Opens the database, and adds the items of the shop if it is new. Whoever opens one closes it.
 *
 * @param file its path; `:memory:` keeps it in this process
 * @param judge asks for the judgement of a checkout; without it there is never one
 */
export function openDatabase(file: string, judge: Judge | undefined) {
  // Other replicas may hold the lock for a moment.
  const database = new DatabaseSync(file, { timeout: 5_000 });
  database.exec('PRAGMA journal_mode = WAL');
  database.exec(TABLES + CHECKOUTS_TABLE + LATER_JUDGEMENTS_TABLE);
  const statements = {
    item: database.prepare('SELECT name, price_cents AS "priceCents", stock FROM items WHERE name = ?'),
    insertItem: database.prepare(
      'INSERT INTO items (name, price_cents, stock) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    ),
    order: database.prepare(`${ORDER} WHERE id = ?`),
    orderOf: database.prepare(`${ORDER} WHERE customer_id = ? AND checkout_id = ?`),
    ordersFrom: database.prepare(`${ORDER} WHERE device_id = ? ORDER BY id`),
    insertOrder: database.prepare(INSERT_ORDER),
    spend: database.prepare('INSERT INTO spent_attestations (jti, order_id) VALUES (?, ?) ON CONFLICT DO NOTHING'),
    takeFromStock: database.prepare('UPDATE items SET stock = stock - 1 WHERE name = ? AND stock > 0'),
  };

  /** Did it change a row? */
  const insert = ({ id, item, priceCents, status, customerId, deviceId, sealed }: Order, checkoutId: string) =>
    statements.insertOrder.run(id, customerId, checkoutId, item, priceCents, status, deviceId, sealed).changes === 1;

  database.exec('BEGIN IMMEDIATE');
  for (const { name, priceCents, stock } of ITEMS) statements.insertItem.run(name, priceCents, stock);
  database.exec('COMMIT');

  const checkouts = createCheckouts(database, judge);

  /** The order, the attestation and the stock: all of them change, or none. */
  function place({ customerId, checkoutId, item, judgement, jti }: Purchase) {
    const id = `order-${randomUUID()}`;
    const order: Order = {
      id,
      item: item.name,
      priceCents: item.priceCents,
      status: 'PLACED',
      customerId,
      deviceId: judgement?.deviceId ?? null,
      sealed: judgement?.sealed ?? null,
    };
    database.exec('BEGIN IMMEDIATE');
    try {
      if (!insert(order, checkoutId)) return 'PLACED_BEFORE';
      if (jti !== undefined && statements.spend.run(jti, id).changes === 0) return 'SPENT';
      if (statements.takeFromStock.run(item.name).changes === 0) return 'SOLD_OUT';
      database.exec('COMMIT');
      return 'PLACED';
    } finally {
      if (database.isTransaction) database.exec('ROLLBACK');
    }
  }

  // The columns are named like the fields, and the tables hold nothing that was not inserted above.
  return {
    item: (name: string) => statements.item.get(name) as Item | undefined,
    order: (id: string) => statements.order.get(id) as Order | undefined,
    orderOf: (customerId: string, checkoutId: string) =>
      statements.orderOf.get(customerId, checkoutId) as Order | undefined,
    ordersFrom: (deviceId: string) => statements.ordersFrom.all(deviceId) as unknown as Order[],
    place,
    /**
     * Adds an order of a new shop, which is judged as it would have been at its checkout. No customer can send the id of this
     * checkout, so nobody finds an order that they did not place.
     */
    async add({ deviceToken, ...order }: Seed) {
      const { id, customerId, item } = order;
      const checkoutId = `before:${id}`;
      const checkout = { customerId, checkoutId, item, deviceToken };
      checkouts.start(checkout);
      const judgement = await checkouts.judgementOf(checkout);
      insert({ ...order, deviceId: judgement?.deviceId ?? null, sealed: judgement?.sealed ?? null }, checkoutId);
    },
    checkouts,
    desk: createDesk(database, judge),
    close: () => database.close(),
  };
}
