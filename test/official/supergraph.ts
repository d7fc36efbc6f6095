import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ApolloGateway, IntrospectAndCompose } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { pino } from 'pino';
import { closeAtOnce, listen } from '../support/loopback.ts';
import { freePort } from '../support/ports.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { ROUTER_SECRET, startProducts } from './products.ts';
import { DIST } from './suite.ts';

/** The supergraph of the compatibility suite: its own `users` and `inventory`, our `products`, and a gateway. */
interface SuiteSupergraph {
  readonly productsUrl: string;
  readonly gatewayUrl: string;
  stop(): Promise<void>;
}

/** Composes what the three answer to `_service { sdl }`. If it rejects, nothing is left running. */
export async function startSuiteSupergraph(): Promise<SuiteSupergraph> {
  const log = pino({ level: 'silent' });
  const closers: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (let close = closers.pop(); close; close = closers.pop()) await close();
  };
  try {
    const guarded = await startProducts();
    closers.push(guarded.stop);
    const products = await startRouterTo(guarded.graphqlUrl);
    closers.push(products.stop);
    const users = await startNeighbour('users');
    closers.push(users.stop);
    const inventory = await startNeighbour('inventory');
    closers.push(inventory.stop);
    const subgraphs = [
      { name: 'products', url: products.url },
      { name: 'users', url: users.url },
      { name: 'inventory', url: inventory.url },
    ];
    const gateway = new ApolloGateway({ supergraphSdl: new IntrospectAndCompose({ subgraphs }), logger: log });
    const server = new ApolloServer({ gateway, logger: log });
    closers.push(() => server.stop());
    const { url } = await startStandaloneServer(server, { listen: { host: '127.0.0.1', port: 0 } });
    return { productsUrl: products.url, gatewayUrl: url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Stands in front of our server, which answers routers alone: passes everything on, with the secret that a router has. */
async function startRouterTo(graphqlUrl: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createServer(async (request, response) => {
    const { host, connection, 'content-length': length, ...headers } = request.headers;
    const answer = await fetch(graphqlUrl, {
      method: request.method ?? 'POST',
      // Sound: none of the headers that Node gives as a list is sent here.
      headers: { ...(headers as Record<string, string>), 'router-authorization': ROUTER_SECRET },
      body: await text(request),
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(await answer.text());
  });
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}/graphql`, stop: () => closeAtOnce(server) };
}

/** One of the subgraphs that the suite brings along, as a process: it starts on import and has no way to be stopped. */
async function startNeighbour(name: 'users' | 'inventory'): Promise<{ url: string } & Pick<TestProcess, 'stop'>> {
  const script = join(DIST, 'subgraphs', name, 'index.js');
  // Port 0 would mean its default.
  const port = await freePort();
  const running = startProcess(script, { [`${name.toUpperCase()}_PORT`]: String(port) });
  try {
    await running.waitFor(/subgraph ready at/);
  } catch (error) {
    await running.stop();
    throw error;
  }
  return { url: `http://127.0.0.1:${port}`, stop: running.stop };
}
