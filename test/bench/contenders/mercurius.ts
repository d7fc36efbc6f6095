import { fastify } from 'fastify';
import { mercurius } from 'mercurius';
import { postByUndici } from './post.ts';
import { ready } from './ready.ts';
import { buildSchema } from './schema.ts';

/** Mercurius on Fastify. It compiles a document into a function when it sees it for the second time. */

const app = fastify();
await app.register(mercurius, { schema: buildSchema(postByUndici(process.env['UPSTREAM_URL'] ?? '')), jit: 1 });
ready(`${await app.listen({ host: '127.0.0.1', port: 0 })}/graphql`);
