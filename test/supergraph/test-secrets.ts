import { createSecrets, headersFor, ordersService, type Person } from './subgraph-headers.ts';

/** The secrets of all subgraphs that tests start in this process. */
export const SECRETS = createSecrets();
export const ORDERS_SERVICE = ordersService(SECRETS);

export const subgraphHeaders = (subgraph: string, person?: Person) => headersFor(SECRETS, subgraph, person);
