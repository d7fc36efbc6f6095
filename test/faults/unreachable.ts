import { connect, createServer, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { listen } from '../support/loopback.ts';
import type { Target } from './fault-table.ts';

/** Addresses at which no connection can be made. */

/** Nothing can arrive there. */
export function nobodyAt(host: string, port: number, stop = async () => {}): Target {
  return { url: `http://${host}:${port}`, port, requests: 0, spokenTo: 0, open: 0, stop };
}

/** An address that refuses connections. One old connection is kept open, so that no other server can get the port. */
export async function startRefusing(): Promise<Target> {
  const server = createServer();
  const port = await listen(server);
  const keeper = connect(port, '127.0.0.1').on('error', () => {});
  const kept = await new Promise<Socket>((resolve) => server.once('connection', resolve));
  kept.on('error', () => {});
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  return nobodyAt('127.0.0.1', port, () => {
    keeper.destroy();
    kept.destroy();
    return closed;
  });
}

const NEVER_ACCEPTING = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });
`;

/** An address where connecting neither succeeds nor fails, because the listening process sleeps and its queue is full. Undefined if the system cannot do that. */
export async function startBlackHole(): Promise<Target | undefined> {
  const worker = new Worker(NEVER_ACCEPTING, { eval: true });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const queue: Socket[] = [];
  const stop = async () => {
    for (const socket of queue) socket.destroy();
    await worker.terminate();
  };
  for (let full = false; !full; ) {
    if (queue.length === 16) return void (await stop());
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    queue.push(socket);
    full = await Promise.race([
      new Promise<boolean>((resolve) => socket.once('connect', () => resolve(false))),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 300)),
    ]);
  }
  return nobodyAt('127.0.0.1', port, stop);
}
