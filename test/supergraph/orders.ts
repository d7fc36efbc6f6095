import type { Running } from './listen.ts';
import { type AttestationConfig, createVerifier } from './orders/attestation.ts';
import { openDatabase } from './orders/database.ts';
import { createJudge, type DeviceTrustConfig } from './orders/device-trust.ts';
import { ORDERS, type Order, type Seed } from './orders/goods.ts';
import { createResolvers } from './orders/resolvers.ts';
import { startSubgraph } from './subgraph.ts';

/** The orders team's subgraph: what was bought, by whom, and from which device. */

export interface OrdersOptions {
  /** Which attestations count. */
  readonly attestation: AttestationConfig;
  /** Who judges devices. Without it every order needs a captcha, as if nobody answered there. */
  readonly deviceTrust?: DeviceTrustConfig | undefined;
  /** Port 0 picks a free one. */
  readonly port?: number;
  /** Path of the database; by default it is kept in this process. */
  readonly file?: string;
  /** The orders of a new database. Each is judged as it would have been at its checkout. */
  readonly seeds?: readonly Seed[];
  /** Called with each new order, as soon as it stands. */
  readonly placed?: (order: Order) => void;
}

/** Attestations count for orders only if they name the person. The gateways say who that is. */
export const ORDERS_AUDIENCE = { audience: 'orders', subject: 'required' } as const;

export async function startOrders(options: OrdersOptions): Promise<Running> {
  const { attestation, deviceTrust, port = 0, file = ':memory:', seeds = ORDERS, placed = () => {} } = options;
  const judge = deviceTrust && createJudge(deviceTrust);
  const database = openDatabase(file, judge);
  // A database that is opened again has its orders, and what was judged.
  const missing = seeds.filter(({ id }) => !database.order(id));
  await Promise.all(missing.map(database.add));
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
