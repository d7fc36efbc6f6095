import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../support/ports.ts';

/** Replicas of our subgraph behind a service that spreads connections, as that of Kubernetes does. */

/** A subgraph that runs, in this process or in another one. */
interface Subgraph {
  /** Scheme, host and port. */
  readonly url: string;
  stop(): Promise<unknown>;
}

interface Replica {
  app: Subgraph;
  /** Does the service send it new connections? */
  isReady: boolean;
}

/** @param start starts one replica */
export async function startReplicas(count: number, start: () => Promise<Subgraph>) {
  const replicas: Replica[] = [];
  for (let n = 0; n < count; n += 1) replicas.push({ app: await start(), isReady: true });
  let turn = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const ready = replicas.filter(({ isReady }) => isReady);
    turn += 1;
    const replica = ready[turn % ready.length];
    if (!replica) return void client.destroy();
    const own = connect(Number(new URL(replica.app.url).port), '127.0.0.1');
    for (const socket of [client, own]) {
      open.add(socket);
      socket
        .on('error', () => {})
        .once('close', () => {
          open.delete(socket);
          client.destroy();
          own.destroy();
        });
    }
    client.pipe(own).pipe(client);
  });
  const port = await freePort();
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${port}/graphql`,
    /** Replaces one replica after the other. The service stops sending to one when its readiness fails. */
    restart: async () => {
      for (const replica of replicas) {
        replica.isReady = false;
        await replica.app.stop();
        replica.app = await start();
        replica.isReady = true;
      }
    },
    stop: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await Promise.all(replicas.map(({ app }) => app.stop()));
    },
  };
}
