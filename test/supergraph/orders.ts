import { type AttestationConfig, createVerifier } from '../../schema/recipes/attestation.ts';
import type { Running } from './listen.ts';
import { createJudging } from './orders/checkouts.ts';
import { type Checkout, openDatabase } from './orders/database.ts';
import { createJudge, type DeviceTrustConfig } from './orders/device-trust.ts';
import { ITEMS, type Seed } from './orders/goods.ts';
import { createResolvers } from './orders/resolvers.ts';
import { type SubgraphOptions, startSubgraph } from './subgraph.ts';

/** The orders team's subgraph: what was bought, by whom, and from which device. */

export interface OrdersOptions extends SubgraphOptions {
  /** Which attestations count. */
  readonly attestation: AttestationConfig;
  /** Who judges devices. */
  readonly deviceTrust: DeviceTrustConfig;
  /** Path of the database; by default it is kept in this process. */
  readonly file?: string;
  /** The orders of a new database. Each is judged as it would have been at its checkout. */
  readonly seeds?: readonly Seed[];
  /** Called with each new order, as soon as it stands. */
  readonly placed?: (order: Checkout) => void;
}

/** Attestations count for orders only if they name the person. The gateways say who that is. */
export const ORDERS_AUDIENCE = { audience: 'orders', subject: 'required' } as const;

export async function startOrders(options: OrdersOptions): Promise<Running> {
  const { attestation, deviceTrust, file = ':memory:', seeds = [], placed = () => {} } = options;
  const database = openDatabase(file);
  const letJudge = createJudging(database, createJudge(deviceTrust));
  // No customer can send the id of these checkouts, so nobody finds an order that they did not place.
  const added = seeds.map(async ({ orderId, customerId, item: name, deviceToken, captcha }) => {
    const item = ITEMS.find((one) => one.name === name);
    if (!item || database.order(orderId)) return;
    const checkout = await letJudge(database.start(customerId, `before:${orderId}`, item), deviceToken);
    database.place(checkout, checkout.decision === 'ALLOW' ? null : (captcha ?? 'VERIFIED'), undefined, orderId);
  });
  await Promise.all(added);
  const shop = { database, letJudge, verify: createVerifier(attestation), audience: attestation.audience, placed };
  const { url, stop } = await startSubgraph('orders', createResolvers(shop), options);
  return {
    url,
    stop: async () => {
      await stop();
      database.close();
    },
  };
}
