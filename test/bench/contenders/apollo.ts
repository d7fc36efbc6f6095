import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { buildSchema } from './schema.ts';

/** Apollo Server, as its template for a subgraph over REST has it: the standalone server, and the `fetch` that Node brings. */

const upstream = process.env['UPSTREAM_URL'] ?? '';
const schema = buildSchema(async (path, headers, body) => {
  const response = await fetch(upstream + path, { method: 'POST', headers, body });
  return [response.status, await response.json()];
});
const { url } = await startStandaloneServer(new ApolloServer({ schema }), { listen: { host: '127.0.0.1', port: 0 } });
process.stdout.write(`{"url":"${new URL('graphql', url)}"}\n`);
