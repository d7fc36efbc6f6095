import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LIVE } from '../process/environments.ts';
import { collectGarbage } from '../support/garbage.ts';
import { MAIN, ROOT, startCommand } from '../support/process.ts';
import type { Overrides } from '../support/server.ts';
import { untilEnd } from '../support/until-end.ts';
import { startUpstream } from '../support/upstream.ts';
import { MB, openUntilEnd, ROUTER_AND_SERVICES, requestOf, startHolding, statusOf } from './holding.ts';

/** Limits of callers that take minutes or much memory to see. */

const open = (url: string, body: string, caller = 'anyone') => openUntilEnd(url, requestOf(caller, body));

/** Reads an answer of this length, a part every few seconds. */
async function readInParts(url: string, length: number): Promise<void> {
  const { socket, received } = open(url, `{"query":"{ long(length: ${length}) }"}`, 'router');
  const startedAt = performance.now();
  await once(socket, 'data');
  for (let read = 0; received().length < length; ) {
    socket.pause();
    await setTimeout(3_900);
    read = Math.min(received().length + MB, length);
    socket.resume();
    await expect.poll(() => received().length, { interval: 1, timeout: 5_000 }).toBeGreaterThanOrEqual(read);
  }
  expect(performance.now() - startedAt).toBeGreaterThan(14_000);
}

test('an answer of which nothing is read for 10 s closes its connection, and one that is late or read in parts does not', async () => {
  const { url, underWay, readMetrics } = await startHolding(ROUTER_AND_SERVICES);
  const late = open(url, '{"query":"{ wait }"}', 'router');
  const inParts = readInParts(url, 8 * MB - 20);
  // As much as the service may hold.
  const long = `{"query":"{ long(length: ${8 * MB - 20}) }"}`;
  const unread = [open(url, long, 'orders'), open(url, long, 'orders')];
  // Both from the first byte on: waiting for one after the other, this process can read all of the second.
  await Promise.all(unread.map(({ socket }) => once(socket, 'data').then(() => socket.pause())));
  const since = performance.now();
  expect(await statusOf(url, 'orders', long)).toBe(503);
  expect(await readMetrics()).toContain('device_trust_operations_failed_total{side="operator"} 1\n');
  // As many at once, because one of the two is closed first.
  const askTwice = () => Promise.all(unread.map(() => statusOf(url, 'orders', long)));
  await expect.poll(askTwice, { interval: 500 }).toEqual([200, 200]);
  expect(performance.now() - since).toBeGreaterThan(9_500);
  for (const { socket, closed, received } of unread) {
    socket.resume();
    await closed;
    expect(received().length).toBeLessThan(8 * MB);
  }
  for (const resolve of underWay) resolve();
  await expect.poll(late.received).toContain('"wait":null');
  await inParts;
});

test.each<[string, string, Overrides]>([
  ['a known document', '{ wait }', {}],
  ['new documents', '{ wait } #', {}],
  ['plugins of Apollo Server', '{ wait }', { plugins: [{}] }],
])('operations under way keep nothing that they do not use: %s', async (_what, query, options) => {
  const { url, underWay } = await startHolding(options);
  const ask = (at: number) =>
    open(
      url,
      JSON.stringify({ query: query + (query.endsWith('#') ? at : ''), variables: { x: 'x'.repeat(512 * 1024) } }),
    );
  const hold = async (count: number) => {
    const all = underWay.size + count;
    while (underWay.size < all) {
      const before = underWay.size;
      ask(before);
      await expect.poll(() => underWay.size, { interval: 1 }).toBe(before + 1);
    }
  };
  const used = () => {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  await hold(10);
  const before = used();
  await hold(100);
  // They brought 50 MB.
  await expect.poll(() => used() - before).toBeLessThan(10 * MB);
});

test('a process with a heap of 256 MB outlives 100 requests with as many undeclared values as they can bring', async () => {
  const upstream = await untilEnd(startUpstream(() => {}));
  const env = {
    ...LIVE,
    FINGERPRINT_URL_NA: upstream.url,
    FINGERPRINT_TIMEOUT_MS: '60000',
    ADMIN_PORT: '0',
    PATH: process.env['PATH'],
  };
  const child = await untilEnd(startCommand([process.execPath, '--max-old-space-size=256', MAIN], { cwd: ROOT, env }));
  const [, url = ''] = await child.waitFor(/"url":"([^"]+)"/);
  for (const value of ['[],', '{},', '{"1":1},']) {
    const x = value.repeat((512 * 1024 - 200) / value.length);
    const query = '{ deviceFingerprint(token: \\"t\\") { __typename } }';
    const connections = Array.from({ length: 100 }, () => open(url, `{"query":"${query}","variables":{"x":[${x}0]}}`));
    const underWay = () => connections.filter((one) => one.received() === '').length;
    // So many of these fit into what there is for all.
    await expect.poll(underWay, { timeout: 60_000 }).toBe(5);
    for (const { socket } of connections) socket.destroy();
    // The server finds out within 200 ms that they left, and then has room for five again.
    const largest = `{"query":"{ __typename }","variables":{"x":[${x}0]}}`;
    const five = () => Promise.all(Array.from({ length: 5 }, () => statusOf(url, 'anyone', largest)));
    await expect.poll(five, { timeout: 10_000 }).toEqual(Array(5).fill(200));
  }
}, 240_000);
