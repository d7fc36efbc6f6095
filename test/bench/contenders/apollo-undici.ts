import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { postByUndici } from './post.ts';
import { ready } from './ready.ts';
import { buildSchema } from './schema.ts';

/** Apollo Server, as in its template, but with undici's own request. */

const server = new ApolloServer({ schema: buildSchema(postByUndici(process.env['UPSTREAM_URL'] ?? '')) });
const { url } = await startStandaloneServer(server, { listen: { host: '127.0.0.1', port: 0 } });
ready(new URL('graphql', url).href);
