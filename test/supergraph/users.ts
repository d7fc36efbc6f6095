import type { Running } from './listen.ts';
import {
  requireOwnerOrScope,
  requireScope,
  type SubgraphContext,
  type SubgraphOptions,
  startSubgraph,
} from './subgraph.ts';

/** The users team's subgraph: who the customers are. */

interface User {
  readonly id: string;
  readonly name: string;
  /** The tokens of their sign-ins: whoever wants a fresh look at a device refers to it by its token. */
  readonly deviceTokens: readonly string[];
}

const USERS: readonly User[] = [
  { id: 'user-1', name: 'Ada', deviceTokens: ['sandbox:android:EMULATOR', 'sandbox:ios'] },
  { id: 'user-2', name: 'Grace', deviceTokens: ['sandbox:web'] },
  { id: 'user-3', name: 'Mallory', deviceTokens: ['sandbox:android', 'not-a-token', 'sandbox:error:500'] },
];

export function startUsers(options: SubgraphOptions): Promise<Running> {
  const byId = new Map(USERS.map((user) => [user.id, user]));
  const resolvers = {
    Query: {
      me: (_root: unknown, _args: unknown, { userId }: SubgraphContext) => userId && byId.get(userId),
      user: (_root: unknown, { id }: { id: string }, context: SubgraphContext) => {
        requireScope(context);
        return byId.get(id);
      },
    },
    User: {
      __resolveReference: async ({ id }: { id: string }, context: SubgraphContext) => {
        requireOwnerOrScope(context, id);
        return byId.get(id);
      },
      sessions: ({ deviceTokens }: User) =>
        deviceTokens.map((token, at) => ({ id: `session-${at + 1}`, deviceFingerprint: { token } })),
    },
  };
  return startSubgraph('users', resolvers, options);
}
