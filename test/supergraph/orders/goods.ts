/** What the shop sells, and what was ordered before it opens. */

export interface Item {
  readonly name: string;
  readonly priceCents: number;
}

export const ITEMS: readonly Item[] = [
  { name: 'Pen', priceCents: 200 },
  { name: 'Vase', priceCents: 2_400 },
  { name: 'Kettle', priceCents: 3_900 },
  { name: 'Lamp', priceCents: 5_000 },
  { name: 'Gift card', priceCents: 10_000 },
  { name: 'Desk', priceCents: 24_900 },
];

/** Up to this value an order is placed while the device cannot be judged, or with a captcha that cannot be verified. */
export const MAX_UNVERIFIED_CENTS = 5_000;

/** An order of a new shop, and the token of the device that it was placed from. */
export interface Seed {
  readonly orderId: string;
  readonly customerId: string;
  readonly item: string;
  readonly deviceToken: string;
  /** It was placed in an outage of the captcha service. */
  readonly captcha?: 'UNVERIFIED';
}

const SHARED = 'sandbox:once:android:EMULATOR,VPN_ENABLED@emulator';

/** Three customers share an emulator. */
export const ORDERS: readonly Seed[] = [
  { orderId: 'order-1', customerId: 'user-1', item: 'Kettle', deviceToken: `${SHARED}#1`, captcha: 'UNVERIFIED' },
  { orderId: 'order-2', customerId: 'user-1', item: 'Lamp', deviceToken: 'sandbox:ios' },
  { orderId: 'order-3', customerId: 'user-2', item: 'Gift card', deviceToken: `${SHARED}#2` },
  { orderId: 'order-4', customerId: 'user-3', item: 'Gift card', deviceToken: `${SHARED}#3` },
  { orderId: 'order-5', customerId: 'user-3', item: 'Lamp', deviceToken: 'not-a-token' },
];
