import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { DocumentCache } from '../../src/graphql/document-cache.ts';
import { times } from '../support/times.ts';

/** Which documents a full cache keeps. Each of these caches has room for 100 documents. */

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
});

const ROUTER = { name: 'router', isService: false };
const [ORDERS, USERS] = ['orders', 'users'].map((name) => ({ name, isService: true })) as [
  typeof ROUTER,
  typeof ROUTER,
];
const created = () => new DocumentCache<string>(100, { hasRouter: true, services: 2 });

/** Asks for these documents as Apollo Server does: it adds those that are missing. Returns their number. */
function ask(cache: DocumentCache<string>, documents: readonly string[], caller = ROUTER): number {
  return documents.filter((document) => {
    const isMissing = cache.get(document) === undefined;
    if (isMissing) cache.add(document, document, 1, caller);
    return isMissing;
  }).length;
}

const documentsOf = (what: string, count: number) => times(count, (at) => `${what} ${at}`);

test('documents of a new release are known from their second request on, while a bot sends 1.4 new ones a second', () => {
  const cache = created();
  const page = documentsOf('page', 20);
  let misses = 0;
  for (let second = 0; second < 1_200; second += 1) {
    cache.add(`bot ${second}`, '', 4, ROUTER);
    vi.advanceTimersByTime(1_000 / 1.4);
    // The release comes when the cache is full of documents that are not a minute old.
    if (second >= 600 && second % 7 === 0) misses += ask(cache, page);
  }
  expect(misses).toBe(page.length);
});

test('documents in use stay in a flood of new ones, those used more for longer', () => {
  const cache = created();
  const [often, seldom] = [documentsOf('often', 10), documentsOf('seldom', 10)];
  times(10, () => ask(cache, often));
  ask(cache, seldom);
  const flood = documentsOf('flood', 1_000);
  let misses = 0;
  for (let at = 0; at < 1_000; at += 10) {
    ask(cache, flood.slice(at, at + 10));
    vi.advanceTimersByTime(1_000);
    if (at % 50 === 0) misses += ask(cache, often);
  }
  expect(misses).toBe(0);
  expect(ask(cache, seldom)).toBe(seldom.length);
});

test('documents of an old release make room within minutes, however much they were used', () => {
  const cache = created();
  times(1_000, () => ask(cache, documentsOf('old', 100)));
  const page = documentsOf('new', 90);
  const missesIn = () => {
    vi.advanceTimersByTime(2_000);
    return ask(cache, page);
  };
  expect(missesIn()).toBe(90);
  times(300, missesIn);
  expect(times(30, missesIn)).toEqual(Array(30).fill(0));
});

test('a service fills no more than its part of the half of all services, and takes nothing else from anybody', () => {
  const cache = created();
  const [ofRouter, ofUsers] = [documentsOf('router', 50), documentsOf('users', 25)];
  ask(cache, ofRouter);
  ask(cache, ofUsers, USERS);
  const flood = documentsOf('orders', 1_000);
  for (const document of flood) {
    vi.advanceTimersByTime(1_000);
    // Each is used more than all others.
    times(3, () => ask(cache, [document], ORDERS));
  }
  expect(ofRouter.filter((document) => !cache.get(document))).toEqual([]);
  expect(ofUsers.filter((document) => !cache.get(document))).toEqual([]);
  expect(flood.filter((document) => cache.get(document)).length).toBe(25);
});

test('a service finds its part when the router has filled the whole cache', () => {
  const cache = created();
  ask(cache, documentsOf('router', 100));
  const ofService = documentsOf('orders', 20);
  ask(cache, ofService, ORDERS);
  expect(ask(cache, ofService, ORDERS)).toBe(0);
});

test('a document grows at the cost of those with an eighth of its use for each byte, and of no others', () => {
  const cache = created();
  const others = documentsOf('other', 99);
  times(3, () => ask(cache, others));
  ask(cache, ['one']);
  times(45, () => ask(cache, ['one']));
  expect(cache.grow('one', 4)).toBe(false);
  expect(ask(cache, others)).toBe(0);
  vi.advanceTimersByTime(60_000);
  times(80, () => ask(cache, ['one']));
  expect(cache.grow('one', 4)).toBe(true);
  expect(cache.get('one')).toBe('one');
  expect(others.filter((document) => cache.get(document)).length).toBeLessThan(96);
});
