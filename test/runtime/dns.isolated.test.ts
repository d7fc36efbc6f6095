import type { LookupAddress } from 'node:dns';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDnsCache } from '../../src/runtime/dns.ts';

/** How long an answer of the dns is used, and what becomes of it while the dns fails. */

const OLD = [{ address: '192.0.2.1', family: 4 }];
const NEW = [
  { address: '192.0.2.2', family: 4 },
  { address: '2001:db8::2', family: 6 },
];
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

const failure = (code: string) => Object.assign(new Error('look-up'), { code });

/** A dns whose look-ups a test answers. */
function startResolver() {
  const lookups: PromiseWithResolvers<readonly LookupAddress[]>[] = [];
  const told: string[] = [];
  const observer = {
    failed: (...what: unknown[]) => void told.push(what.join(' ')),
    recovered: (hostname: string) => void told.push(`${hostname} recovered`),
  };
  const dns = createDnsCache(observer, () => {
    const lookup = Promise.withResolvers<readonly LookupAddress[]>();
    lookups.push(lookup);
    return lookup.promise;
  });
  const name = dns.nameFor('upstream.example');
  const outcomes: unknown[] = [];
  /** Lets promises settle. */
  const settle = () => vi.advanceTimersByTimeAsync(0);
  return {
    dns,
    told,
    name,
    outcomes,
    lookupCount: () => lookups.length,
    resolve: () => {
      const found = () => void outcomes.push(name.inOrder());
      const lookUp = name.lookUp();
      if (lookUp) lookUp.then(found, ({ code }) => void outcomes.push(code));
      else found();
    },
    answer: (addresses: LookupAddress[]) => {
      lookups.at(-1)?.resolve(addresses);
      return settle();
    },
    fail: (code: string) => {
      lookups.at(-1)?.reject(failure(code));
      return settle();
    },
  };
}

/** One that has answered once. */
async function startKnown() {
  const started = startResolver();
  started.resolve();
  await started.answer(OLD);
  started.outcomes.length = 0;
  return started;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a name is looked up once for all who ask at the same time, and not at all for those who ask later', async () => {
  const { name, dns, resolve, answer, outcomes, lookupCount } = startResolver();
  expect(lookupCount()).toBe(0);
  for (let time = 0; time < 100; time += 1) resolve();
  expect([lookupCount(), outcomes]).toEqual([1, []]);
  await answer(NEW);
  expect(outcomes).toEqual(Array(100).fill(NEW));
  resolve();
  expect([lookupCount(), outcomes.length]).toEqual([1, 101]);
  expect(dns.nameFor('upstream.example')).toBe(name);
});

test('a name whose look-up failed is looked up again when the next one asks', async () => {
  const { resolve, answer, fail, outcomes, lookupCount } = startResolver();
  resolve();
  await fail('EAI_AGAIN');
  resolve();
  expect(lookupCount()).toBe(2);
  await answer(OLD);
  expect(outcomes).toEqual(['EAI_AGAIN', OLD]);
});

test('a failed look-up is told each time, whether it is the first one, and when one succeeds again', async () => {
  const { resolve, answer, fail, told } = await startKnown();
  expect(told).toEqual([]);
  for (const code of ['EAI_AGAIN', 'ENOTFOUND']) {
    vi.advanceTimersByTime(20 * SECOND);
    resolve();
    await fail(code);
  }
  vi.advanceTimersByTime(20 * SECOND);
  resolve();
  await answer(NEW);
  expect(told).toEqual([
    'upstream.example EAI_AGAIN true',
    'upstream.example ENOTFOUND false',
    'upstream.example recovered',
  ]);
});

test('an answer is refreshed in the background after 20 s, once somebody asks, and used meanwhile', async () => {
  const { resolve, answer, outcomes, lookupCount } = await startKnown();
  vi.advanceTimersByTime(19_999);
  resolve();
  expect(lookupCount()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(lookupCount()).toBe(1);
  resolve();
  resolve();
  expect(lookupCount()).toBe(2);
  await answer(NEW);
  resolve();
  expect([outcomes, lookupCount()]).toEqual([[OLD, OLD, OLD, NEW], 2]);
});

test.each(['EAI_AGAIN', 'ENOTFOUND'])(
  'an answer is used for 5 minutes while each refresh fails with %s',
  async (code) => {
    const { resolve, answer, fail, outcomes, lookupCount } = await startKnown();
    for (let second = 1; second < 5 * 60; second += 1) {
      vi.advanceTimersByTime(SECOND);
      resolve();
      await fail(code);
    }
    expect(outcomes).toEqual(Array(5 * 60 - 1).fill(OLD));
    // One refresh every 20 s.
    expect(lookupCount()).toBe(15);

    vi.advanceTimersByTime(SECOND);
    resolve();
    await fail(code);
    expect(outcomes.at(-1)).toBe(code);
    resolve();
    await answer(NEW);
    expect(outcomes.at(-1)).toEqual(NEW);
  },
);

test('an answer is refreshed at once when a connection failed, unless it is a second old at most, and stays if that fails', async () => {
  const { name, fail, answer, lookupCount } = await startKnown();
  await name.refresh();
  expect(lookupCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(SECOND);
  let refreshing = name.refresh();
  await fail('ENOTFOUND');
  await refreshing;
  expect([lookupCount(), name.inOrder()]).toEqual([2, OLD]);
  await vi.advanceTimersByTimeAsync(SECOND);
  refreshing = name.refresh();
  await answer(NEW);
  await refreshing;
  expect(name.inOrder()).toEqual(NEW);
});

test('an address that failed is the last one for a minute, the one that failed first before others, and turns begin at the good ones', async () => {
  const { name, answer } = startResolver();
  name.lookUp();
  await answer(['a', 'b', 'c'].map((address) => ({ address, family: 4 })));
  const inOrder = (turn?: number) => name.inOrder(turn).map(({ address }) => address);
  expect([inOrder(), inOrder(1).join(), inOrder(2).join(), inOrder(3)].join(' ')).toBe('a,b,c b,c,a c,a,b a,b,c');
  name.recordFailure('b');
  expect([inOrder(), inOrder(1)].join(' ')).toBe('a,c,b c,a,b');
  await vi.advanceTimersByTimeAsync(30 * SECOND);
  name.recordFailure('a');
  name.recordFailure('c');
  expect(inOrder().join()).toBe('b,a,c');
  await vi.advanceTimersByTimeAsync(31 * SECOND);
  name.recordFailure('a');
  expect(inOrder().join()).toBe('b,c,a');
});

test('an answer is used while a refresh hangs', async () => {
  const { resolve, outcomes, lookupCount } = await startKnown();
  vi.advanceTimersByTime(4 * MINUTE);
  resolve();
  resolve();
  expect([lookupCount(), outcomes]).toEqual([2, [OLD, OLD]]);
});

test('a look-up that hangs fails after 1.5 s for all who wait, and at once for those who ask later, without a second look-up', async () => {
  const { resolve, fail, outcomes, told, lookupCount } = startResolver();
  resolve();
  vi.advanceTimersByTime(1_000);
  resolve();
  await vi.advanceTimersByTimeAsync(499);
  expect(outcomes).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(outcomes).toEqual(['ETIMEDOUT', 'ETIMEDOUT']);
  resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(outcomes).toEqual(['ETIMEDOUT', 'ETIMEDOUT', 'ETIMEDOUT']);
  expect(lookupCount()).toBe(1);
  await fail('EAI_AGAIN');
  expect(told).toEqual(['upstream.example ETIMEDOUT true']);
});

test('a look-up that hangs is used when it is answered in the end', async () => {
  const { resolve, answer, outcomes, lookupCount } = startResolver();
  resolve();
  await vi.advanceTimersByTimeAsync(30 * SECOND);
  await answer(OLD);
  resolve();
  expect([outcomes, lookupCount()]).toEqual([['ETIMEDOUT', OLD], 1]);
});
