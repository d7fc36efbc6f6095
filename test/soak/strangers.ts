import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { atLeast, atMost, type Scenario } from './findings.ts';
import { describeOutcomes, goodPart, p99 } from './samples.ts';
import { textAt } from './testbed.ts';

/** Strangers open as many connections as the server takes, with one GET /healthz each, beside people and probes. */

const STRANGERS = 4_096;
/** Connections are opened in portions, so that the backlog of the system is not what is measured. */
const AT_ONCE = 128;
const RATE = 50;
const CONNECTIONS = 32;
const ASK_EVERY_MS = 100;
const READY_MS = 1_000;

export const strangers: Scenario = async (field, size) => {
  const server = await field.serve();
  const { hostname, port } = new URL(server.origin);
  const ms = size.calm * 2;
  const stream = { url: server.url, question: 'captcha', ms, connections: CONNECTIONS, rate: RATE } as const;
  const sockets = new Set<Socket>();
  let opened = 0;
  let isOver = false;
  const open = async () => {
    // Whoever is closed comes again.
    while (!isOver) {
      for (let nth = 0; nth < AT_ONCE && sockets.size < STRANGERS; nth += 1) {
        const socket = connect(Number(port), hostname);
        opened += 1;
        sockets.add(socket);
        socket.on('error', () => {}).once('close', () => sockets.delete(socket));
        socket.resume().write('GET /healthz HTTP/1.1\r\nhost: soak\r\n\r\n');
      }
      await sleep(20);
    }
  };
  const before = field.load({ people: stream });
  const flood = open();
  const { people } = await before;
  const heldAtOnce = sockets.size;
  const waits: { ms: number }[] = [];
  // The connections of these are opened in the middle of the flood.
  const later = field.load({ people: stream });
  for (const start = performance.now(); performance.now() - start < ms; await sleep(ASK_EVERY_MS)) {
    const asked = performance.now();
    const text = await textAt(`${server.admin}/readyz`).catch(() => 'none');
    waits.push({ ms: text === 'ready\n' ? performance.now() - asked : 60_000 });
  }
  const all = [...people, ...(await later).people];
  isOver = true;
  await flood;
  for (const socket of sockets) socket.destroy();
  return [
    atLeast(
      `${STRANGERS} strangers: people with their verdict`,
      100,
      goodPart(all) * 100,
      ' %',
      `${describeOutcomes(all)}; ${heldAtOnce} connections of strangers, ${opened} ever`,
    ),
    atMost(`${STRANGERS} strangers: p99 of /readyz on the admin port`, READY_MS, p99(waits), ' ms'),
  ];
};
