import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createYoga } from 'graphql-yoga';
import { postByUndici } from './post.ts';
import { ready } from './ready.ts';
import { buildSchema } from './schema.ts';

/** GraphQL Yoga on node:http. */

const yoga = createYoga({ schema: buildSchema(postByUndici(process.env['UPSTREAM_URL'] ?? '')), logging: false });
const server = createServer(yoga);
await once(server.listen(0, '127.0.0.1'), 'listening');
// Sound: a server that listens on TCP has an AddressInfo.
ready(`http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`);
