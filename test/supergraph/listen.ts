import { createServer, type RequestListener } from 'node:http';
import { closeAtOnce, listen as listenAt } from '../support/loopback.ts';

/** A server of the supergraph that listens. Whoever starts one stops it. */
export interface Running {
  /** Where it answers GraphQL. */
  readonly url: string;
  /** Closes every socket. */
  stop(): Promise<void>;
}

/** Serves on loopback; port 0 picks a free one. Rejects with the error of the socket if it cannot. */
export async function listen(listener: RequestListener, port: number): Promise<Running> {
  const server = createServer(listener);
  const taken = await listenAt(server, port);
  return { url: `http://127.0.0.1:${taken}/graphql`, stop: () => closeAtOnce(server) };
}
