import { createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { listen } from './loopback.ts';
import { isProbe, probeAnswer } from './probes.ts';

/** One request that reached a hostile upstream, and the raw socket to mistreat its sender with. */
export interface RawRequest {
  readonly socket: Socket;
  /** 1 for the first request, 2 for the second. */
  readonly nth: number;
  /** Head and body as they came. */
  readonly request: string;
}

/** How an upstream misbehaves, once a whole request has arrived. */
export type Behaviour = (exchange: RawRequest) => void;

/** A TCP server on loopback that can do to a connection what no well-meaning HTTP server would. */
export interface Hostile {
  readonly url: string;
  readonly port: number;
  /** Connections ever accepted, apart from those of probes. */
  readonly connections: number;
  /** Connections on which at least one byte arrived. */
  readonly spokenTo: number;
  /** Whole requests ever received. */
  readonly requests: number;
  /** Connections that are open now, apart from those of probes. */
  readonly open: number;
  /** Closes everything, whatever is under way. */
  stop(): Promise<void>;
}

interface Options {
  /** What to do to a connection before anything was read from it. */
  readonly greet?: ((socket: Socket) => void) | undefined;
  /** What to do to probes, which are not counted. Without it they get their documented answers. */
  readonly probe?: Behaviour;
  /** Makes it a TLS server, whose connections count once they are encrypted; its name is `localhost`. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Another address of this machine, with the port of another server. */
  readonly at?: readonly [port: number, host: string];
}

export async function startHostile(
  behave: Behaviour,
  { greet, tls, probe = answersProbes, at = [0, '127.0.0.1'] }: Options = {},
): Promise<Hostile> {
  const sockets = new Set<Socket>();
  const count = { connections: 0, spokenTo: 0, requests: 0, open: 0 };
  const take = (socket: Socket) => {
    count.connections += 1;
    count.open += 1;
    sockets.add(socket);
    let isOfProbes = false;
    // The other side may close its connection whenever it likes: here that is never an accident.
    socket
      .on('error', () => {})
      .once('close', () => {
        if (!isOfProbes) count.open -= 1;
        sockets.delete(socket);
      });
    socket.once('data', () => {
      count.spokenTo += 1;
    });
    let unread = '';
    socket.on('data', (bytes) => {
      unread += bytes.toString('latin1');
      for (let end = endOfRequest(unread); end > 0; end = endOfRequest(unread)) {
        const request = unread.slice(0, end);
        unread = unread.slice(end);
        if (isProbe(request)) {
          // Probes share no connection with calls.
          if (!isOfProbes) for (const key of ['connections', 'spokenTo', 'open'] as const) count[key] -= 1;
          isOfProbes = true;
          probe({ socket, nth: 0, request });
        } else {
          count.requests += 1;
          behave({ socket, nth: count.requests, request });
        }
      }
    });
    greet?.(socket);
  };
  // Many services prefer HTTP/2, and this one would not understand it.
  const server = tls
    ? createTlsServer({ ...tls, ALPNProtocols: ['h2', 'http/1.1'] }, take)
    : createServer({ noDelay: true }, take);
  const port = await listen(server, ...at);
  return Object.assign(count, {
    url: tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    port,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  });
}

/** Length of the first whole request; 0 while it is incomplete. Our client always names the length of its body. */
function endOfRequest(text: string): number {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return 0;
  const [, length = '0'] = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head)) ?? [];
  const end = head + 4 + Number(length);
  return text.length >= end ? end : 0;
}

type Headers = Readonly<Record<string, string>>;

/** Start line and headers of an answer. */
export function head(status: number, headers: Headers = {}): string {
  const lines = Object.entries({ 'content-type': 'application/json', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return [`HTTP/1.1 ${status} Status`, ...lines, '', ''].join('\r\n');
}

/** A complete answer, well-formed as HTTP. A length among the headers replaces the true one. */
export function answer(status: number, body: string | Uint8Array, headers: Headers = {}): Behaviour {
  return ({ socket }) => {
    socket.write(head(status, { 'content-length': String(Buffer.byteLength(body)), ...headers }));
    socket.write(body);
  };
}

/** An upstream that is well: every probe gets its documented answer. */
export const answersProbes: Behaviour = (exchange) => {
  const [, body = ''] = exchange.request.split('\r\n\r\n');
  const documented = probeAnswer(body);
  answer(documented.status, documented.body)(exchange);
};

/** These bytes as they are, then nothing more. */
export function bytes(text: string): Behaviour {
  return ({ socket }) => socket.write(text);
}

/** Takes the request and never says anything. */
export const hang: Behaviour = () => {};

/** Takes the request and resets the connection. */
export const reset: Behaviour = ({ socket }) => socket.resetAndDestroy();

/** Takes the request and closes the connection properly. */
export const closeConnection: Behaviour = ({ socket }) => socket.end();

/** What the behaviour does, then the end of the connection. */
export function thenClose(behave: Behaviour): Behaviour {
  return (exchange) => {
    behave(exchange);
    exchange.socket.end();
  };
}

/** What the behaviour does, then a reset, once that has left: a reset at once would overtake it. */
export function thenReset(behave: Behaviour): Behaviour {
  return (exchange) => {
    behave(exchange);
    setTimeout(() => exchange.socket.resetAndDestroy(), 50);
  };
}

/** `first`, then `again` every 50 ms until the other side closes the connection. */
export function trickle(first: string, again: string): Behaviour {
  return ({ socket }) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(again), 50);
    socket.once('close', () => clearInterval(timer));
  };
}

/** `first`, then `piece` until 100 MB are sent or the other side closes the connection; never more than the socket takes. */
export function flood(first: string, piece: string | Uint8Array): Behaviour {
  return ({ socket }) => {
    let left = HUNDRED_MB;
    const pump = () => {
      while (left > 0 && !socket.destroyed) {
        left -= piece.length;
        if (!socket.write(piece)) {
          socket.once('drain', pump);
          return;
        }
      }
    };
    socket.write(first);
    pump();
  };
}

export const HUNDRED_MB = 100_000_000;
