import { gql } from 'graphql-tag';
import { startServer } from './server.ts';

const typeDefs = gql`
  type Query { mistake(token: String): String }
  type Thing @key(fields: "id") { id: ID! }
`;
const resolvers = {
  Query: {
    mistake: (_root: unknown, { token }: { token: string }) => {
      throw new TypeError(`a mistake with ${token}`);
    },
  },
  Thing: { __resolveReference: async () => null },
};

/** The server with another schema, whose field `mistake` throws an error that quotes its argument. */
export function startFailingServer(): ReturnType<typeof startServer> {
  return startServer([{ typeDefs, resolvers }]);
}
