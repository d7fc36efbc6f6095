/** What the shop has in its database when it opens. */

export interface Order {
  readonly id: string;
  readonly item: string;
  readonly priceCents: number;
  readonly status: 'PLACED' | 'PAID' | 'SHIPPED';
  readonly customerId: string;
  /** The device that it was placed from; null if it could not be judged. */
  readonly deviceId: string | null;
  /** What was judged when the order was placed: the sealed text of the judgement. */
  readonly sealed: string | null;
}

/** An order of a new shop, and the token of the device that it is placed from. */
export interface Seed extends Omit<Order, 'deviceId' | 'sealed'> {
  readonly deviceToken: string;
}

export interface Item {
  readonly name: string;
  readonly priceCents: number;
  readonly stock: number;
}

const PLENTY = 1_000_000;

export const ITEMS: readonly Item[] = [
  { name: 'Pen', priceCents: 200, stock: PLENTY },
  { name: 'Vase', priceCents: 2_400, stock: PLENTY },
  { name: 'Kettle', priceCents: 3_900, stock: PLENTY },
  { name: 'Lamp', priceCents: 5_000, stock: PLENTY },
  { name: 'Gift card', priceCents: 10_000, stock: PLENTY },
  { name: 'Desk', priceCents: 24_900, stock: PLENTY },
  { name: 'Signed print', priceCents: 4_500, stock: 0 },
];

const SHARED = 'sandbox:android:EMULATOR,VPN_ENABLED';

/** Three customers share an emulator; the last has tokens that cannot be judged as well. */
export const ORDERS: readonly Seed[] = [
  order('order-1', 'Kettle', 3_900, 'SHIPPED', 'user-1', SHARED),
  order('order-2', 'Lamp', 5_000, 'PAID', 'user-1', 'sandbox:ios'),
  order('order-3', 'Gift card', 10_000, 'PAID', 'user-2', SHARED),
  order('order-4', 'Desk', 24_900, 'SHIPPED', 'user-2', 'sandbox:web'),
  order('order-5', 'Gift card', 10_000, 'PAID', 'user-3', SHARED),
  order('order-6', 'Gift card', 10_000, 'PLACED', 'user-3', 'not-a-token'),
  order('order-7', 'Gift card', 10_000, 'PLACED', 'user-3', 'sandbox:error:500'),
];

function order(
  id: string,
  item: string,
  priceCents: number,
  status: Order['status'],
  customerId: string,
  deviceToken: string,
): Seed {
  return { id, item, priceCents, status, customerId, deviceToken };
}
