import type { Running } from './listen.ts';
import { type SubgraphContext, startSubgraph } from './subgraph.ts';

/** The users team's subgraph: who the customers are, and which orders are theirs. */

export interface User {
  readonly id: string;
  readonly name: string;
  /** Numbers of their orders. What an order is, this subgraph leaves to the one that has them. */
  readonly orderIds: readonly string[];
  /** The tokens of their sign-ins: whoever wants a fresh look at a device refers to it by its token. */
  readonly deviceTokens: readonly string[];
}

export const USERS: readonly User[] = [
  {
    id: 'user-1',
    name: 'Ada',
    orderIds: ['order-1', 'order-2'],
    deviceTokens: ['sandbox:android:EMULATOR', 'sandbox:ios'],
  },
  { id: 'user-2', name: 'Grace', orderIds: ['order-3'], deviceTokens: ['sandbox:web'] },
  {
    id: 'user-3',
    name: 'Mallory',
    orderIds: ['order-4', 'order-5'],
    deviceTokens: ['sandbox:android', 'not-a-token', 'sandbox:error:500'],
  },
];

/** @param users the customers */
export function startUsers(port = 0, users = USERS): Promise<Running> {
  const byId = new Map(users.map((user) => [user.id, user]));
  const resolvers = {
    Query: {
      me: (_root: unknown, _args: unknown, { userId }: SubgraphContext) => userId && byId.get(userId),
      user: (_root: unknown, { id }: { id: string }) => byId.get(id),
    },
    User: {
      __resolveReference: async ({ id }: { id: string }) => byId.get(id),
      orders: ({ orderIds }: User) => orderIds.map((id) => ({ id })),
      sessions: ({ deviceTokens }: User) =>
        deviceTokens.map((token, at) => ({ id: `session-${at + 1}`, deviceFingerprint: { token } })),
    },
  };
  return startSubgraph('users', resolvers, port);
}
