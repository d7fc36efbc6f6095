import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createDnsCache } from '../../src/runtime/dns.ts';
import { openPool } from '../../src/upstream/pool.ts';
import { idleMsAfter } from '../../src/upstream/witness.ts';
import { answer, type RawRequest, startHostile } from '../support/hostile.ts';
import { untilEnd } from '../support/until-end.ts';
import { probeOf } from './support.ts';

/** For how long a socket may be idle and then serve a call: as long as another one has shown that the service keeps it. */

interface Service {
  /** Answers with these headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Closes a connection that is idle for this long. */
  readonly closesAfterMs?: number;
  /** No longer answers on a connection that was idle for this long, as behind a firewall that has forgotten it. */
  readonly dropsAfterMs?: number;
}

/** A pool of this service whose witness is first idle for two seconds, with the sockets on which it sent calls. */
async function startPool({ headers = {}, closesAfterMs, dropsAfterMs = 60_000 }: Service) {
  const usedAt = new Map<Socket, number>();
  const timers = new Map<Socket, NodeJS.Timeout>();
  const ofCalls = new Set<Socket>();
  const behave = (exchange: RawRequest) => {
    const { socket, request } = exchange;
    const now = performance.now();
    if (now - (usedAt.get(socket) ?? now) > dropsAfterMs) return;
    usedAt.set(socket, now);
    if (!request.endsWith('probe')) ofCalls.add(socket);
    answer(200, '{}', headers)(exchange);
    if (closesAfterMs === undefined) return;
    clearTimeout(timers.get(socket));
    timers.set(
      socket,
      setTimeout(() => socket.end(), closesAfterMs),
    );
  };
  const upstream = await startHostile(behave);
  const probe = probeOf(upstream.url);
  const pool = openPool(upstream.url, createDnsCache(), { probe });
  const call = () => pool.post({ ...probe, path: '/' }, '{}', new AbortController().signal).response;
  const stop = () => Promise.all([pool.close(), upstream.stop()]);
  return { call, ofCalls, stop };
}

describe.concurrent('a socket that was idle for 600 ms', () => {
  test.for<[string, Service]>([
    ['serves the next call if the witness was kept longer', {}],
    ['serves the next call if the witness was seen to end later', { closesAfterMs: 1_600 }],
    ['is closed if the witness has lost its connection silently', { dropsAfterMs: 1_600 }],
    ['is closed if Keep-Alive says less', { headers: { 'keep-alive': 'timeout=1' } }],
  ])('a socket that was idle for 600 ms %s', async ([what, service], context) => {
    const { call, ofCalls } = await untilEnd(startPool(service), context);
    await call();
    // The first step of the witness is over.
    await sleep(2_300);
    ofCalls.clear();
    await call();
    await sleep(600);
    expect(await call()).toMatchObject({ status: 200 });
    context.expect(ofCalls.size).toBe(what.startsWith('serves') ? 1 : 2);
  });

  test('a socket that was idle for 600 ms serves the next call also if it was opened before anything was proven', async (context) => {
    const { call, ofCalls } = await untilEnd(startPool({}), context);
    for (const end = performance.now() + 2_300; performance.now() < end; await sleep(200)) await call();
    await sleep(400);
    await call();
    context.expect(ofCalls.size).toBe(1);
  });

  test('a socket that was idle for 600 ms is closed after the service has ended another one of calls sooner', async (context) => {
    const { call, ofCalls } = await untilEnd(startPool({}), context);
    await call();
    await sleep(2_300);
    await call();
    await sleep(20);
    for (const socket of ofCalls) socket.destroy();
    await sleep(20);
    ofCalls.clear();
    await call();
    await sleep(600);
    await call();
    context.expect(ofCalls.size).toBe(2);
  });
});

test('a socket that was idle for half a second serves no call if nothing is proven', async (context) => {
  const { call, ofCalls } = await untilEnd(startPool({}), context);
  await call();
  await sleep(520);
  await call();
  expect(ofCalls.size).toBe(2);
});

test.each([
  [0, 500],
  [600, 500],
  [4_000, 3_000],
  [50_000, 37_500],
])(
  'a socket may be idle for three quarters of what is proven, and half a second at least: %i ms make %i',
  (provenMs, idleMs) => {
    expect(idleMsAfter(provenMs)).toBe(idleMs);
  },
);
