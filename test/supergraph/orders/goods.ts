/** What the shop has in its database when it opens. */

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

/** An order of a new shop, and the token of the device that it was placed from. */
export interface Seed {
  readonly orderId: string;
  readonly customerId: string;
  readonly item: string;
  readonly deviceToken: string;
}

const SHARED = 'sandbox:android:EMULATOR,VPN_ENABLED';

/** Three customers share an emulator. */
export const ORDERS: readonly Seed[] = [
  { orderId: 'order-1', customerId: 'user-1', item: 'Kettle', deviceToken: SHARED },
  { orderId: 'order-2', customerId: 'user-1', item: 'Lamp', deviceToken: 'sandbox:ios' },
  { orderId: 'order-3', customerId: 'user-2', item: 'Gift card', deviceToken: SHARED },
  { orderId: 'order-4', customerId: 'user-3', item: 'Gift card', deviceToken: SHARED },
  { orderId: 'order-5', customerId: 'user-3', item: 'Gift card', deviceToken: 'not-a-token' },
];
