import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { listen } from '../support/loopback.ts';

/**
 * A reverse proxy as plain as they come: asks each replica every 200 ms whether it is ready, gives requests to those that
 * are, in turns, over connections that it keeps. It never sends a request twice, so whatever a replica loses is lost.
 */

const POLL_MS = 200;
/** Longer than anyone in front keeps an idle connection. */
const KEEP_ALIVE_MS = 75_000;

interface Replica {
  readonly name: string;
  readonly origin: string;
  readonly agent: Agent;
  isReady: boolean;
  /** Has it broken a connection since it was last ready? */
  isBroken: boolean;
}

const replicas: Replica[] = process.argv.slice(2).map((origin, at) => ({
  name: String(at + 1),
  origin,
  agent: new Agent({ keepAlive: true }),
  isReady: false,
  isBroken: false,
}));
let turn = 0;

function next(): Replica | undefined {
  const ready = replicas.filter(({ isReady }) => isReady);
  turn += 1;
  return ready[turn % Math.max(1, ready.length)];
}

function passOn(incoming: IncomingMessage, response: ServerResponse): void {
  const replica = next();
  if (!replica) {
    refuse(response, 'none');
    return;
  }
  const { name, origin, agent } = replica;
  const wasBroken = replica.isBroken;
  const { method, headers } = incoming;
  const outgoing = request(origin + incoming.url, { agent, method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, { ...endToEnd(answer.headers), 'x-replica': name });
    answer.pipe(response);
  });
  outgoing.on('error', () => {
    // It gets no further request until it says that it is ready.
    replica.isReady = false;
    replica.isBroken = true;
    refuse(response, `${name} ${wasBroken ? 'later' : 'under way'}`);
  });
  incoming.pipe(outgoing);
}

/** Headers that are about the connection to the replica end here. */
function endToEnd({ connection: _connection, 'keep-alive': _keepAlive, ...headers }: IncomingMessage['headers']) {
  return headers;
}

/** @param what happened: which replica lost it, and whether it was under way when its connections broke */
function refuse(response: ServerResponse, what: string): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(502, { 'x-replica': what }).end();
}

async function poll(replica: Replica): Promise<void> {
  const answer = await fetch(`${replica.origin}/readyz`, {
    headers: { connection: 'close' },
    signal: AbortSignal.timeout(2_000),
  }).catch(() => undefined);
  await answer?.body?.cancel();
  replica.isReady = answer?.status === 200;
  if (replica.isReady) replica.isBroken = false;
}

setInterval(() => {
  for (const replica of replicas) void poll(replica);
}, POLL_MS);
await Promise.all(replicas.map(poll));

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (incoming, response) => {
  if (incoming.url !== '/replicas') passOn(incoming, response);
  else response.end(replicas.map(({ isReady }) => Number(isReady)).join(''));
});
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${await listen(server)}` })}\n`);
