import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../support/loopback.ts';

/** Two replicas of our subgraph behind a service that spreads connections, as that of Kubernetes does. */

/** A subgraph that runs, in this process or in another one. */
interface Subgraph {
  /** Scheme, host and port. */
  readonly url: string;
  stop(): Promise<unknown>;
}

const PROBE_INTERVAL_MS = 100;
const PROBE_TIMEOUT_MS = 10_000;

/** @param start starts one replica */
export async function startReplicas(start: () => Promise<Subgraph>) {
  const replicas = [await start(), await start()].map((app) => ({ app, isReady: true }));
  const open = new Set<Socket>();
  let turn = 0;
  const server = createServer((client) => {
    const ready = replicas.filter(({ isReady }) => isReady);
    turn += 1;
    const target = ready[turn % ready.length]?.app.url;
    if (target === undefined) return void client.destroy();
    const own = connect(Number(new URL(target).port), '127.0.0.1');
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
  let isOver = false;
  const follow = async (replica: (typeof replicas)[number]) => {
    for (; !isOver; await sleep(PROBE_INTERVAL_MS)) {
      const init = { headers: { connection: 'close' }, signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) };
      replica.isReady = await fetch(`${replica.app.url}/readyz`, init).then(
        ({ ok }) => ok,
        () => false,
      );
    }
  };
  for (const replica of replicas) void follow(replica);
  return {
    url: `http://127.0.0.1:${await listen(server)}/graphql`,
    /** Stops one replica after the other, and starts another one in its place. The service follows `/readyz`. */
    restart: async () => {
      for (const replica of replicas) {
        await replica.app.stop();
        replica.isReady = false;
        replica.app = await start();
        // Else the next one could be stopped while no replica gets connections.
        while (!replica.isReady) await sleep(PROBE_INTERVAL_MS);
      }
    },
    stop: async () => {
      isOver = true;
      for (const socket of open) socket.destroy();
      server.close();
      await Promise.all(replicas.map(({ app }) => app.stop()));
    },
  };
}
