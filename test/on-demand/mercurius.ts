import { fastify } from 'fastify';
import { mercurius } from 'mercurius';
import { Agent, request } from 'undici';
import { buildSchema } from '../bench/contenders/schema.ts';

/** Mercurius on Fastify. It compiles a document into a function when it sees it for the second time. */

const upstream = process.env['UPSTREAM_URL'] ?? '';
const dispatcher = new Agent();
const schema = buildSchema(async (path, headers, body) => {
  const answer = await request(upstream + path, { method: 'POST', headers, body, dispatcher });
  return [answer.statusCode, JSON.parse(await answer.body.text())];
});
const app = fastify();
await app.register(mercurius, { schema, jit: 1 });
process.stdout.write(`{"url":"${await app.listen({ host: '127.0.0.1', port: 0 })}/graphql"}\n`);
