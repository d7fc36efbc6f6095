import { randomBytes } from 'node:crypto';

/** What the gateways of the example send to each subgraph. */

/** One for each subgraph, so that none can ask another as a gateway does; and that of the order subgraph at device-trust. */
export type Secrets = Readonly<Record<'device-trust' | 'users' | 'orders' | 'ordersService', string>>;

/** New ones, for a graph in one process. A company's subgraphs get theirs from where it keeps secrets. */
export function createSecrets(): Secrets {
  const secret = () => randomBytes(32).toString('base64url');
  return { 'device-trust': secret(), users: secret(), orders: secret(), ordersService: secret() };
}

/** The order subgraph at the device-trust subgraph, and what it may see there. */
export function ordersService({ ordersService }: Secrets) {
  return { name: 'orders', secret: ordersService, scopes: ['risk:read'] as const };
}

/** The headers in which the gateways and the order subgraph say who asks, and what this person may see. */
export const TRUSTED_HEADERS = { subject: 'x-user-id', scopes: 'x-user-scopes' } as const;

/** Who is signed in at a gateway. */
export interface Person {
  readonly id: string;
  /** What this person may see, separated by blanks; empty for nothing that needs a scope. */
  readonly scopes: string;
}

/** The headers for a subgraph with its secret, on behalf of this person, or of nobody where the router itself asks. */
export function headersFor(secrets: Secrets, subgraph: string, person?: Person): Record<string, string> {
  const secret = new Map(Object.entries(secrets)).get(subgraph);
  if (secret === undefined) throw new Error(`expected a subgraph of the example, but got ${subgraph}`);
  return {
    'router-authorization': secret,
    ...(person && { 'x-user-id': person.id, 'x-user-scopes': person.scopes }),
  };
}
