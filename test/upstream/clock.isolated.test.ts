import { pino } from 'pino';

import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createDnsCache } from '../../src/runtime/dns.ts';

import { createServiceHealth } from '../../src/upstream/health.ts';
import type { Evidence } from '../../src/upstream/health-table.ts';
import { type Behaviour, hang, startHostile } from '../support/hostile.ts';
import { untilEnd } from '../support/until-end.ts';

import {
  accountStarter,
  asIs,
  createContext,
  createTestClient,
  down,
  inTurn,
  probeOf,
  refusing,
  requestTo,
  serviceOptions,
  well,
} from './support.ts';

/** The intervals of probes and the age of connections, with short waits in the place of the long ones. */

/** Until the test ends, waits of these lengths take a thirtieth of their time. Gives those waits, in ms. */
function shortenWaits(...lengths: readonly number[]): number[] {
  const { setTimeout: usual } = globalThis;
  const waits: number[] = [];
  vi.spyOn(globalThis, 'setTimeout').mockImplementation((act, ms = 0, ...values) => {
    if (!lengths.includes(ms)) return usual(act, ms, ...values);
    waits.push(ms);
    return usual(act, ms / 30, ...values);
  });
  onTestFinished(() => void vi.restoreAllMocks());
  return waits;
}

const { startAccount, stop } = accountStarter();
async function start(...behaviours: readonly Behaviour[]) {
  const account = await startAccount(inTurn(...behaviours));
  onTestFinished(async () => void (await stop()));
  account.health.requestProbe('a');
  return account;
}

test.each([
  ['in an outage follows each second', [down, down, down, down, well], 'outage: HTTP status 503', 1_000],
  ['to an account that is refused follows after 10 s', [refusing, well], 'refused: HTTP status 401', 10_000],
])('a probe %s, and its first answer ends that', async (_when, behaviours, change, ms) => {
  const waits = shortenWaits(1_000, 10_000);
  const { changes, health, stateIs } = await start(...behaviours);
  await expect.poll(stateIs).toBe('well');
  expect(changes).toEqual([change, 'well']);
  expect(new Set(waits)).toEqual(new Set([ms]));
  expect(health.admit('a').isTrial).toBe(false);
});

test('a service that does not answer keeps the process from becoming ready for 15 s', async () => {
  const upstream = await untilEnd(startHostile(hang));
  const waits = shortenWaits(15_000);
  const service = createServiceHealth([probeOf(upstream.url)], { ...serviceOptions(), upstreamCheck: 'first' });
  onTestFinished(() => service.close());
  const ready = service.start();
  expect([service.isReady, waits]).toEqual([false, [15_000]]);
  await ready;
  expect(service.accounts.get('a')?.status.hasWorked).toBe(false);
});

test('twenty calls in a row that are refused over a minute are shown as a refusal until one goes well, and decide nothing', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const upstream = await untilEnd(startHostile(well));
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line).msg) });
  const service = createServiceHealth([probeOf(upstream.url)], { ...serviceOptions(), upstreamCheck: 'first', log });
  onTestFinished(() => service.close());
  await service.start();
  const account = service.accounts.get('a');
  const call = (evidence: Evidence) => service.admit('a').settle(evidence);
  const told = () => lines.filter((line) => line.includes('refused every call')).length;
  for (let round = 1; round <= 2; round += 1) {
    for (let n = 1; n <= 20; n += 1) {
      expect([account?.shownState, told()]).toEqual(['well', round - 1]);
      call('refused');
      // Neither a bot's challenge nor a failure is a good call.
      call('answered');
      call('inconclusive');
      vi.advanceTimersByTime(3_200);
    }
    expect([account?.shownState, told()]).toEqual(['refused', round]);
    expect([account?.status.state, service.isReady, service.admit('a').isTrial]).toEqual(['well', true, false]);
    call('well');
  }
  // A few refusals in a long time are a bot's.
  call('refused');
  vi.advanceTimersByTime(600_000);
  for (let n = 1; n <= 18; n += 1) call('refused');
  expect(account?.shownState).toBe('well');
});

describe('under a steady load', () => {
  /** Makes calls 400 ms apart, during which a connection may be idle, on a clock that stands still in between. */
  function startLoad(port: number, addresses: () => string[]) {
    const lookup = async () => addresses().map((address) => ({ address, family: 4 }));
    const client = createTestClient({ dns: createDnsCache(undefined, lookup) });
    let now = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    onTestFinished(() => void vi.restoreAllMocks());
    return async (seconds: number) => {
      for (const end = now + seconds * 1_000; now < end; now += 400) {
        await client.call(requestTo(`http://upstream.example:${port}`, createContext()), asIs);
        await new Promise(setImmediate);
      }
    };
  }

  test('under a steady load a connection ends after 200 to 300 s, and is the only one', async () => {
    const upstream = await untilEnd(startHostile(well));
    const callFor = startLoad(upstream.port, () => ['127.0.0.1']);
    await callFor(199);
    expect(upstream.connections).toBe(1);
    await callFor(102);
    expect([upstream.connections, upstream.open]).toEqual([2, 1]);
  });

  test('under a steady load no connection stays at an address that the name no longer has, after 20 s', async () => {
    const before = await untilEnd(startHostile(well));
    const after = await untilEnd(startHostile(well, { at: [before.port, '127.0.0.2'] }));
    let address = '127.0.0.1';
    const callFor = startLoad(before.port, () => [address]);
    await callFor(10);
    address = '127.0.0.2';
    await callFor(20);
    const { requests } = before;
    await callFor(10);
    expect([before.requests, before.open, after.connections]).toEqual([requests, 0, 1]);
    expect(after.requests).toBeGreaterThan(20);
  });
});
