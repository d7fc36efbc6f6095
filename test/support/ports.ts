import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Ports for servers that have to keep theirs over a restart. They are below those that
 * the system picks for port 0, so that no other process gets one in between.
 */
const FIRST = 20_000;
const COUNT = 10_000;

/** Processes with neighbouring ids begin far apart: a prime number near the golden ratio of them all. */
let next = (process.pid * 6_173) % COUNT;

/** A port that is free now, and that was not given out before. Rejects if there is none. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < COUNT; tries += 1) {
    next = (next + 1) % COUNT;
    const port = FIRST + next;
    if (await isFree(port)) return port;
  }
  throw new Error('there is no free port');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening'); // rejects on 'error'
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}
