import { createHash } from 'node:crypto';
import type { Running } from './listen.ts';
import { startSubgraph } from './subgraph.ts';

/** The orders team's subgraph: what was bought, by whom, and from which device. */

export interface Order {
  readonly id: string;
  readonly item: string;
  readonly status: 'PLACED' | 'PAID' | 'SHIPPED';
  readonly customerId: string;
  readonly deviceToken: string;
  /** What was judged when the order was placed. */
  readonly sealed?: string;
}

const SHARED = 'sandbox:android:EMULATOR,VPN_ENABLED';

/** Three customers share an emulator; the last has tokens that cannot be judged as well. */
export const ORDERS: readonly Order[] = [
  { id: 'order-1', item: 'Kettle', status: 'SHIPPED', customerId: 'user-1', deviceToken: SHARED },
  { id: 'order-2', item: 'Lamp', status: 'PAID', customerId: 'user-1', deviceToken: 'sandbox:ios' },
  { id: 'order-3', item: 'Gift card', status: 'PAID', customerId: 'user-2', deviceToken: SHARED },
  { id: 'order-4', item: 'Desk', status: 'SHIPPED', customerId: 'user-2', deviceToken: 'sandbox:web' },
  { id: 'order-5', item: 'Gift card', status: 'PAID', customerId: 'user-3', deviceToken: SHARED },
  { id: 'order-6', item: 'Gift card', status: 'PLACED', customerId: 'user-3', deviceToken: 'not-a-token' },
  { id: 'order-7', item: 'Gift card', status: 'PLACED', customerId: 'user-3', deviceToken: 'sandbox:error:500' },
];

interface PlaceOrderInput {
  readonly customerId: string;
  readonly item: string;
  readonly deviceToken: string;
}

/** @param placed called with each new order, as soon as it stands */
export function startOrders(port = 0, orders = ORDERS, placed: (order: Order) => void = () => {}): Promise<Running> {
  const byId = new Map<string, Order>();
  const byDevice = new Map<string, Order[]>();
  const keep = (order: Order) => {
    byId.set(order.id, order);
    const device = deviceId(order.deviceToken);
    byDevice.set(device, [...(byDevice.get(device) ?? []), order]);
  };
  for (const order of orders) keep(order);

  const resolvers = {
    Query: {
      order: (_root: unknown, { id }: { id: string }) => byId.get(id),
    },
    Mutation: {
      placeOrder: (_root: unknown, { input }: { input: PlaceOrderInput }) => {
        const order: Order = { ...input, id: `order-${byId.size + 1}`, status: 'PLACED' };
        keep(order);
        placed(order);
        return order;
      },
    },
    Order: {
      __resolveReference: async ({ id }: { id: string }) => byId.get(id),
      customer: ({ customerId }: Order) => ({ id: customerId }),
      deviceFingerprint: ({ deviceToken }: Order) => ({ token: deviceToken }),
      judgement: ({ sealed }: Order) => (sealed === undefined ? null : { sealed }),
    },
    Device: {
      __resolveReference: async ({ id }: { id: string }) => ({ id }),
      orders: ({ id }: { id: string }) => byDevice.get(id) ?? [],
    },
  };
  return startSubgraph('orders.graphql', resolvers, port);
}

/**
 * Which device a token comes from. The sandbox makes device ids like this, so the order subgraph needs no call;
 * with the real service it would store the id when the order is placed.
 */
function deviceId(deviceToken: string): string {
  return createHash('sha256').update(deviceToken).digest('hex');
}
