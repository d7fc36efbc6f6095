import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { closeAtOnce, listen } from '../support/loopback.ts';

const POLL_MS = 200;
/** Longer than anyone in front keeps an idle connection. */
const KEEP_ALIVE_MS = 75_000;

/**
 * A reverse proxy as plain as they come: asks each replica every 200 ms whether it is ready, gives requests to those that
 * are, in turns, over connections that it keeps. It never sends a request twice, so whatever a replica loses is lost.
 */
export async function startProxy(origins: readonly string[]) {
  const replicas = origins.map((origin) => ({ origin, agent: new Agent({ keepAlive: true }), isReady: false }));
  let turn = 0;
  const poll = () =>
    Promise.all(
      replicas.map(async (replica) => {
        const init = { headers: { connection: 'close' }, signal: AbortSignal.timeout(2_000) };
        const answer = await fetch(`${replica.origin}/readyz`, init).catch(() => undefined);
        await answer?.body?.cancel();
        replica.isReady = answer?.status === 200;
      }),
    );
  const passOn = (incoming: IncomingMessage, response: ServerResponse) => {
    const ready = replicas.filter(({ isReady }) => isReady);
    turn += 1;
    const replica = ready[turn % Math.max(1, ready.length)];
    const refuse = () => (response.headersSent ? response.destroy() : response.writeHead(502).end());
    if (!replica) return void refuse();
    const { method, headers } = incoming;
    const outgoing = request(replica.origin + incoming.url, { agent: replica.agent, method, headers }, (answer) => {
      // Headers that are about the connection to the replica end here.
      const { connection: _connection, 'keep-alive': _keepAlive, ...endToEnd } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, endToEnd);
      answer.pipe(response);
    });
    outgoing.on('error', () => {
      // It gets no further request until it says that it is ready.
      replica.isReady = false;
      refuse();
    });
    incoming.pipe(outgoing);
  };
  await poll();
  const timer = setInterval(() => void poll(), POLL_MS);
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, passOn);
  return {
    origin: `http://127.0.0.1:${await listen(server)}`,
    ready: () => replicas.filter(({ isReady }) => isReady).length,
    stop: () => {
      clearInterval(timer);
      for (const { agent } of replicas) agent.destroy();
      return closeAtOnce(server);
    },
  };
}
