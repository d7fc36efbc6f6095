import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { DocumentCache } from '../../src/graphql/document-cache.ts';
import { times } from '../support/times.ts';

/** Which documents a full cache keeps. Each of these caches has room for 100 documents. */

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
});

const created = () =>
  new DocumentCache<string>(100, {
    hasRouter: true,
    services: new Map([
      ['orders', undefined],
      ['batch', undefined],
    ]),
  });
const ROUTER = { name: 'router', isService: false };
const ORDERS = { name: 'orders', isService: true };

/** Asks for these documents as Apollo Server does: it adds those that are missing. Returns their number. */
function ask(cache: DocumentCache<string>, documents: readonly string[], caller = ROUTER): number {
  const missing = documents.filter((document) => cache.get(document) === undefined);
  for (const document of missing) cache.add(document, document, 1, caller);
  return missing.length;
}

const documentsOf = (what: string, count: number) => times(count, (at) => `${what} ${at}`);

test('documents of a new release are known from their second request on, while a bot sends 1.4 new ones a second', () => {
  const cache = created();
  const page = documentsOf('page', 20);
  let misses = 0;
  for (let at = 0; at < 1_200; at += 1) {
    cache.add(`bot ${at}`, '', 4, ROUTER);
    vi.advanceTimersByTime(1_000 / 1.4);
    // The release comes when the cache is full of documents that are not a minute old, and asks for each every five seconds.
    if (at >= 600 && at % 7 === 0) misses += ask(cache, page);
  }
  expect(misses).toBe(page.length);
});

test('documents in use stay in a flood of new ones, those used more for longer', () => {
  const cache = created();
  const [often, seldom] = [documentsOf('often', 10), documentsOf('seldom', 10)];
  times(10, () => ask(cache, often));
  times(2, () => ask(cache, seldom));
  const flood = (count: number) =>
    times(count, () => {
      vi.advanceTimersByTime(100);
      cache.add(`${Math.random()}`, '', 1, ROUTER);
    });
  flood(1_000);
  expect([ask(cache, often), ask(cache, seldom)]).toEqual([0, seldom.length]);
  times(20, () => {
    flood(50);
    expect(ask(cache, often)).toBe(0);
  });
});

test('documents of an old release make room within minutes, however much they were used', () => {
  const cache = created();
  times(100, () => ask(cache, documentsOf('old', 100)));
  const page = documentsOf('new', 90);
  const misses = times(300, () => {
    vi.advanceTimersByTime(2_000);
    return ask(cache, page);
  });
  expect(misses.slice(-30)).toEqual(Array(30).fill(0));
});

test('a service fills no more than its equal part of the half of all services, at the cost of nobody else', () => {
  const cache = created();
  const ofRouter = documentsOf('router', 75);
  ask(cache, ofRouter);
  const flood = documentsOf('orders', 1_000);
  for (const document of flood) times(3, () => ask(cache, [document], ORDERS));
  expect(ask(cache, ofRouter)).toBe(0);
  expect(flood.filter((document) => cache.get(document)).length).toBe(25);
});

test('a service finds its part when the router has filled the whole cache', () => {
  const cache = created();
  times(3, () => ask(cache, documentsOf('router', 100)));
  const ofService = documentsOf('orders', 20);
  ask(cache, ofService, ORDERS);
  expect(ask(cache, ofService, ORDERS)).toBe(0);
});

test('a document grows at the cost of those with an eighth of its use for each byte, and of no others', () => {
  const cache = created();
  const others = documentsOf('other', 99);
  times(3, () => ask(cache, others));
  times(46, () => ask(cache, ['one']));
  expect(cache.grow('one', 4)).toBe(false);
  expect(ask(cache, others)).toBe(0);
  vi.advanceTimersByTime(60_000);
  times(80, () => ask(cache, ['one']));
  expect(cache.grow('one', 4)).toBe(true);
  expect(ask(cache, ['one'])).toBe(0);
  expect(ask(cache, others)).toBeGreaterThan(3);
});
