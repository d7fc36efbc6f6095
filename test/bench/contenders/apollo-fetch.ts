import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { postByFetch } from './post.ts';
import { ready } from './ready.ts';
import { buildSchema } from './schema.ts';

/** Apollo Server, as its template for a subgraph has it, upstream calls by fetch. */

const server = new ApolloServer({ schema: buildSchema(postByFetch(process.env['UPSTREAM_URL'] ?? '')) });
const { url } = await startStandaloneServer(server, { listen: { host: '127.0.0.1', port: 0 } });
ready(new URL('graphql', url).href);
