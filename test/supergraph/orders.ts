import type { Running } from './listen.ts';
import { type AttestationConfig, createVerifier } from './orders/attestation.ts';
import { openDatabase } from './orders/database.ts';
import { ORDERS, type Order } from './orders/goods.ts';
import { createResolvers } from './orders/resolvers.ts';
import { startSubgraph } from './subgraph.ts';

/** The orders team's subgraph: what was bought, by whom, and from which device. */

export interface OrdersOptions {
  /** Which attestations count. */
  readonly attestation: AttestationConfig;
  /** Port 0 picks a free one. */
  readonly port?: number;
  /** Path of the database; by default it is kept in this process. */
  readonly file?: string;
  /** The orders of a new database. */
  readonly seeds?: readonly Order[];
  /** Called with each new order, as soon as it stands. */
  readonly placed?: (order: Order) => void;
}

/** Attestations count for orders only if they name the person. The gateways say who that is. */
export const ORDERS_AUDIENCE = { audience: 'orders', subject: 'required' } as const;

export async function startOrders(options: OrdersOptions): Promise<Running> {
  const { attestation, port = 0, file = ':memory:', seeds = ORDERS, placed = () => {} } = options;
  const database = openDatabase(file, seeds);
  const shop = { database, verify: createVerifier(attestation), audience: attestation.audience, placed };
  const { url, stop } = await startSubgraph('orders.graphql', createResolvers(shop), port);
  return {
    url,
    stop: async () => {
      await stop();
      database.close();
    },
  };
}
