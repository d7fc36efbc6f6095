import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen } from '../support/loopback.ts';
import { freePort } from '../support/ports.ts';

/** Replicas of our subgraph behind a service that spreads connections, as that of Kubernetes does. */

/** A subgraph that runs, in this process or in another one. */
interface Subgraph {
  /** Scheme, host and port. */
  readonly url: string;
  stop(): Promise<unknown>;
}

const PROBE_INTERVAL_MS = 100;
const PROBE_TIMEOUT_MS = 10_000;

/** Passes each connection on to a port of this machine, and closes it if there is none. */
async function startRelay(pickPort: () => number | undefined) {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const target = pickPort();
    if (target === undefined) return void client.destroy();
    const own = connect(target, '127.0.0.1');
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
  return {
    port: await listen(server, await freePort()),
    stop: () => {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

/** @param start starts one replica */
export async function startReplicas(count: number, start: () => Promise<Subgraph>) {
  const replicas: { app: Subgraph; isReady: boolean }[] = [];
  for (let n = 0; n < count; n += 1) replicas.push({ app: await start(), isReady: true });
  let turn = 0;
  const relay = await startRelay(() => {
    const ready = replicas.filter(({ isReady }) => isReady);
    turn += 1;
    const url = ready[turn % ready.length]?.app.url;
    return url === undefined ? undefined : Number(new URL(url).port);
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
    url: `http://127.0.0.1:${relay.port}/graphql`,
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
      relay.stop();
      await Promise.all(replicas.map(({ app }) => app.stop()));
    },
  };
}
