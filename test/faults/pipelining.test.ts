import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { LIVE } from '../process/environments.ts';
import { COMPILED, MAIN, ROOT, startCommand } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { times } from '../support/times.ts';

/** Clients without a secret send many requests, or pieces of a body, at once, to a process with the heap of the manifests. */

const SECRET = 'the-secret-of-the-router-0123456789abcdef';
const get = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n';
const chunked = 'POST /graphql HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';
const post = (secret = '') =>
  `POST /graphql HTTP/1.1\r\nhost: x\r\n${secret}content-type: application/json\r\ncontent-length: 26\r\n\r\n{"query":"{ __typename }"}`;
/** 58 KiB fit into the socket buffers, so that the process reads them at once. */
const fill = (request: string) => request.repeat(Math.floor((58 * 1024) / request.length));

const { ALLOW_DIRECT_ACCESS: _, ...live } = LIVE;
const env = { PATH: process.env['PATH'], ...COMPILED, ...live, ADMIN_PORT: '0', ROUTER_SECRETS: SECRET };
// One for all: what an attack leaves behind may not end it either.
const child = startCommand([process.execPath, '--max-old-space-size=256', MAIN], { cwd: ROOT, env });
afterAll(child.stop);
const [, url = ''] = await child.waitFor(/"url":"([^"]+)"/);
const { hostname, port } = new URL(url);
const router = () => ask(url, '{ __typename }', {}, { 'router-authorization': SECRET });
await router();

test.each<[string, string, { readonly againMs?: number; readonly reads?: boolean }]>([
  ['GET', fill(get), {}],
  ['POST without a secret', fill(post()), {}],
  ['POST with a wrong secret', fill(post(`router-authorization: ${'x'.repeat(SECRET.length)}\r\n`)), {}],
  ['GET without a host', fill('GET /healthz HTTP/1.1\r\n\r\n'), {}],
  ['POST without a secret, in chunks of a byte', chunked + fill('1\r\nx\r\n'), {}],
  [
    'POST of the router in gzip, in chunks of a byte',
    `${chunked.replace('\r\n\r\n', `\r\nrouter-authorization: ${SECRET}\r\ncontent-encoding: gzip\r\n\r\n`)}${fill('1\r\nx\r\n')}`,
    {},
  ],
  ['GET, 30 at a time', get.repeat(30), { againMs: 20 }],
  ['GET with unread answers', fill(get), { reads: false }],
])(
  '400 connections that send 58 KiB at once neither end the process nor delay a router by a second: %s',
  async (_what, bytes, { againMs, reads = true }) => {
    const open = new Set<Socket>();
    let isOver = false;
    try {
      const attack = () => {
        const socket = connect(Number(port), hostname);
        open.add(socket);
        if (reads) socket.resume();
        const send = () => socket.writableLength === 0 && socket.write(bytes);
        const timer = againMs && setInterval(send, againMs);
        socket
          .on('error', () => {})
          .once('close', () => {
            clearInterval(timer || undefined);
            open.delete(socket);
            if (!isOver) setTimeout(attack, 50);
          });
        send();
      };
      for (const _connection of times(400, Number)) attack();
      // This process sends the attack as well, so its own first turns are not the server's.
      await Promise.all(
        [...open].slice(0, 400).map((socket) => (socket.connecting ? once(socket, 'connect') : undefined)),
      );
      // A request of the router that is sent within a second is awaited, however long it takes.
      const waits: number[] = [];
      for (const end = performance.now() + 1_000; performance.now() < end; await sleep(20)) {
        const since = performance.now();
        expect((await router()).data).toEqual({ __typename: 'Query' });
        waits.push(performance.now() - since);
      }
      expect(Math.max(...waits)).toBeLessThan(1_000);
    } finally {
      isOver = true;
      for (const socket of open) socket.destroy();
    }
  },
  60_000,
);
