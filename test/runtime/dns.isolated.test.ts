import type { LookupAddress } from 'node:dns';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { DnsCache, type Lookup } from '../../src/runtime/dns.ts';

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
  const lookups: Parameters<Lookup>[1][] = [];
  const told: string[] = [];
  const observer = {
    failed: (...what: unknown[]) => void told.push(what.join(' ')),
    recovered: (hostname: string) => void told.push(`${hostname} recovered`),
  };
  const dns = new DnsCache(observer, (_hostname, done) => void lookups.push(done));
  onTestFinished(() => dns.close());
  const name = dns.nameFor('upstream.example');
  const outcomes: unknown[] = [];
  return {
    dns,
    told,
    name,
    outcomes,
    lookupCount: () => lookups.length,
    resolve: () => name.resolve((error, addresses) => void outcomes.push(error ? Object(error).code : addresses)),
    answer: (addresses: LookupAddress[]) => lookups.at(-1)?.(null, addresses),
    fail: (code: string) => lookups.at(-1)?.(failure(code), []),
  };
}

/** One that has answered once. */
function startKnown() {
  const started = startResolver();
  started.resolve();
  started.answer(OLD);
  started.outcomes.length = 0;
  return started;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a name', () => {
  test('a name is looked up once for all who ask at the same time, and not at all for those who ask later', () => {
    const { name, dns, resolve, answer, outcomes, lookupCount } = startResolver();
    expect(lookupCount()).toBe(0);
    for (let time = 0; time < 100; time += 1) resolve();
    expect([lookupCount(), outcomes]).toEqual([1, []]);
    answer(NEW);
    expect(outcomes).toEqual(Array(100).fill(NEW));
    resolve();
    expect([lookupCount(), outcomes.length]).toEqual([1, 101]);
    expect(dns.nameFor('upstream.example')).toBe(name);
  });

  test('a name whose look-up failed is looked up again when the next one asks', () => {
    const { resolve, answer, fail, outcomes, lookupCount } = startResolver();
    resolve();
    fail('EAI_AGAIN');
    resolve();
    expect(lookupCount()).toBe(2);
    answer(OLD);
    expect(outcomes).toEqual(['EAI_AGAIN', OLD]);
  });

  test('a failed look-up is told each time, whether it is the first one, and when one succeeds again', () => {
    const { resolve, answer, fail, told } = startKnown();
    expect(told).toEqual([]);
    for (const code of ['EAI_AGAIN', 'ENOTFOUND']) {
      vi.advanceTimersByTime(20 * SECOND);
      fail(code);
    }
    resolve();
    vi.advanceTimersByTime(20 * SECOND);
    answer(NEW);
    expect(told).toEqual([
      'upstream.example EAI_AGAIN true',
      'upstream.example ENOTFOUND false',
      'upstream.example recovered',
    ]);
  });

  test('a name without addresses is a failure that is not ENOTFOUND', () => {
    const { resolve, answer, outcomes } = startResolver();
    resolve();
    answer([]);
    expect(outcomes).toEqual(['ENODATA']);
  });
});

describe('an answer', () => {
  test('an answer is refreshed in the background every 20 s, and used meanwhile', () => {
    const { resolve, answer, outcomes, lookupCount } = startKnown();
    vi.advanceTimersByTime(19_999);
    expect(lookupCount()).toBe(1);
    vi.advanceTimersByTime(1);
    expect(lookupCount()).toBe(2);
    resolve();
    answer(NEW);
    resolve();
    expect(outcomes).toEqual([OLD, NEW]);
    vi.advanceTimersByTime(20 * SECOND);
    expect(lookupCount()).toBe(3);
  });

  test.each(['EAI_AGAIN', 'ENOTFOUND'])('an answer is used for 5 minutes while each refresh fails with %s', (code) => {
    const { resolve, answer, fail, outcomes, lookupCount } = startKnown();
    const failUntil = (ms: number) => {
      while (performance.now() < ms) {
        const before = lookupCount();
        vi.advanceTimersByTime(SECOND);
        if (lookupCount() > before) fail(code);
      }
    };
    const start = performance.now();
    failUntil(start + 5 * MINUTE - SECOND);
    resolve();
    expect(outcomes).toEqual([OLD]);
    // One refresh every 20 s.
    expect(lookupCount()).toBeGreaterThan(10);
    expect(lookupCount()).toBeLessThan(20);

    failUntil(start + 6 * MINUTE);
    const refreshed = lookupCount();
    resolve();
    expect(lookupCount()).toBe(refreshed + 1);
    fail(code);
    expect(outcomes).toEqual([OLD, code]);
    resolve();
    answer(NEW);
    expect(outcomes).toEqual([OLD, code, NEW]);
  });

  test('an answer is used while a refresh hangs', () => {
    const { resolve, outcomes, lookupCount } = startKnown();
    vi.advanceTimersByTime(4 * MINUTE);
    resolve();
    expect([lookupCount(), outcomes]).toEqual([2, [OLD]]);
  });

  test('an answer is not refreshed any more once the dns is closed', () => {
    const { dns, lookupCount } = startKnown();
    dns.close();
    vi.advanceTimersByTime(MINUTE);
    expect(lookupCount()).toBe(1);
  });
});

describe('a look-up that hangs', () => {
  test('a look-up that hangs fails after 1.5 s for all who wait, and at once for those who ask later, without a second look-up', async () => {
    const { resolve, fail, outcomes, told, lookupCount } = startResolver();
    resolve();
    vi.advanceTimersByTime(1_000);
    resolve();
    vi.advanceTimersByTime(499);
    expect(outcomes).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(outcomes).toEqual(['ETIMEDOUT', 'ETIMEDOUT']);
    resolve();
    await vi.advanceTimersByTimeAsync(1);
    expect(outcomes).toEqual(['ETIMEDOUT', 'ETIMEDOUT', 'ETIMEDOUT']);
    expect(lookupCount()).toBe(1);
    fail('EAI_AGAIN');
    expect(told).toEqual(['upstream.example ETIMEDOUT true']);
  });

  test('a look-up that hangs is used when it is answered in the end', () => {
    const { resolve, answer, outcomes, lookupCount } = startResolver();
    resolve();
    vi.advanceTimersByTime(30 * SECOND);
    answer(OLD);
    resolve();
    expect([outcomes, lookupCount()]).toEqual([['ETIMEDOUT', OLD], 1]);
  });
});

test('the system finds localhost in its file of hosts', async () => {
  vi.useRealTimers();
  const dns = new DnsCache();
  onTestFinished(() => dns.close());
  const addresses = await new Promise((resolve) => {
    dns.nameFor('localhost').resolve((error, found) => resolve(error ?? found));
  });
  expect(addresses).toContainEqual({ address: '127.0.0.1', family: 4 });
});
