import { beforeEach, expect, test, vi } from 'vitest';
import { FailOpenBudget } from '../../src/captcha/fail-open-budget.ts';
import type { Requester } from '../../src/graphql/caller.ts';
import { type Holder, sharesOf } from '../../src/runtime/shares.ts';

/** How many proceed in an outage over minutes and hours, on a clock that this test moves. */

const [MINUTE, HOUR, MINIMUM] = [60_000, 3_600_000, 10];
let budget = new FailOpenBudget();
beforeEach(() => {
  vi.useFakeTimers();
  budget = new FailOpenBudget();
});

const UNTRACKED: Requester = { kind: 'untracked', id: '' };
const ANONYMOUS: Requester = { kind: 'anonymous', id: '' };
const person = (id: number | string): Requester => ({ kind: 'person', id: `${id}` });
const network = (id: number | string): Requester => ({ kind: 'network', id: `${id}` });

const pass = (count: number, now: number, requesterOf: (n: number) => Requester = () => UNTRACKED) => {
  for (let n = 0; n < count; n += 1) budget.recordPass('a', requesterOf(n), now);
};
/** How many of so many proceed. */
const take = async (
  count: number,
  now: number,
  { id = 'a', requester = UNTRACKED }: { id?: string; requester?: Requester } = {},
) => proceeding(Array.from({ length: count }, () => budget.take(id, requester, now)));
const proceeding = async (taken: readonly Promise<boolean>[]) => (await Promise.all(taken)).filter(Boolean).length;

test('however long an outage is, twice the busiest minute of the hour before may proceed in each sliding minute', async () => {
  pass(5, 0);
  pass(20, 10 * MINUTE);
  pass(7, 30 * MINUTE);
  // Its clock stands still, so the hour before stays the same.
  const now = 31 * MINUTE;
  expect(await take(30, now)).toBe(30);
  vi.advanceTimersByTime(MINUTE / 2);
  expect(await take(30, now)).toBe(10);
  for (let minute = 1; minute <= 120; minute += 1) {
    vi.advanceTimersByTime(MINUTE / 2);
    expect(await take(100, now)).toBe(minute % 2 === 1 ? 30 : 10);
  }
});

test('passes of more than an hour before do not count', async () => {
  pass(20, 0);
  pass(8, MINUTE);
  expect(await take(100, HOUR + MINUTE / 2)).toBe(16);
});

test('the minimum is 10 once, for all captcha ids together', async () => {
  expect([await take(4, 0), await take(4, 0, { id: 'b' }), await take(4, 0, { id: 'c' })]).toEqual([4, 4, 2]);
  vi.advanceTimersByTime(HOUR);
  expect(await take(100, HOUR)).toBe(0);
});

test.each([
  ['person', 3, person],
  ['network', 12, network],
] as const)(
  'one %s gets %i in a minute, for all captcha ids together, and takes nothing from others',
  async (_, most, name) => {
    pass(200, 0, name);
    const requester = name('one');
    expect([
      await take(2, 0, { requester }),
      await take(99, 0, { requester, id: 'b' }),
      await take(99, 0, { requester }),
    ]).toEqual([2, Math.min(most - 2, MINIMUM - 2), Math.max(0, most - MINIMUM)]);
    expect(await take(99, 0, { requester: name('other') })).toBe(most);
    vi.advanceTimersByTime(MINUTE);
    expect(await take(most - 1, 0, { requester })).toBe(most - 1);
    // Each is forgotten after a minute of its own.
    for (const left of [1, most - 1]) {
      vi.advanceTimersByTime(MINUTE / 2);
      expect(await take(99, 0, { requester })).toBe(left);
    }
  },
);

test.each([
  ['person', 3, person],
  ['network', 12, network],
] as const)('150 challenges that one %s has solved in a minute count %i', async (_, most, name) => {
  pass(150, 0, () => name('bot'));
  pass(150, MINUTE, () => name('bot'));
  const takers = Array.from({ length: 100 }, (__, n) => name(n));
  // The minimum, which is there without any pass, is a part of the bound.
  expect(await proceeding(takers.map((requester) => budget.take('a', requester, MINUTE)))).toBe(
    Math.max(2 * most, MINIMUM),
  );
});

test('a person and a network of the same name are two requesters', async () => {
  pass(200, 0, person);
  pass(200, 0, network);
  expect([
    await take(9, 0, { requester: person('203.0.113.7') }),
    await take(99, 0, { requester: network('203.0.113.7') }),
  ]).toEqual([3, 12]);
});

test('networks get nothing of what people passed, and people get all of it', async () => {
  pass(30, 0, person);
  const takenBy = (requesterOf: typeof person) =>
    proceeding(Array.from({ length: 256 }, (_, n) => budget.take('a', requesterOf(n), 0)));
  expect([await takenBy(network), await takenBy(person)]).toEqual([MINIMUM, 60]);
});

test('whoever has no name where names are configured gets twice what nobody passed, and nothing of the minimum', async () => {
  pass(40, 0, person);
  expect(await take(100, 0, { requester: ANONYMOUS })).toBe(0);
  pass(7, 0, () => ANONYMOUS);
  expect(await take(100, 0, { requester: ANONYMOUS })).toBe(14);
  const named = Array.from({ length: 100 }, (_, n) => person(`${n}`));
  expect(await proceeding(named.map((requester) => budget.take('a', requester, 0)))).toBe(80);
});

test('a service that names its requesters itself takes nothing of the router, and no more than its share of the first', async () => {
  const service = (name: string) => ({ name, isService: true });
  const takenBy = (caller: Holder, from: number) =>
    proceeding(Array.from({ length: 40 }, (_, n) => budget.take('a', person(from + n), 0, caller)));
  budget.shares = sharesOf(MINIMUM, { hasRouter: true, services: 2 });
  expect(await takenBy(service('orders'), 0)).toBe(2);
  pass(30, 0, person);
  // What people passed through the router counts for the router alone.
  expect(await takenBy(service('orders'), 100)).toBe(0);
  expect(await takenBy({ name: 'router', isService: false }, 200)).toBe(40);
});

test('a captcha that the store refuses is forgotten once: a minute later nobody else is forgotten in its place', async () => {
  // A real store has a clock of its own. This one knows one pass, and so many that have proceeded.
  let proceeded = 1;
  const store = new FailOpenBudget(
    (prefix) => async (_key, learn) => learn(prefix.endsWith('passed') ? 1 : proceeded, 0),
  );
  const take = () => store.take('a', ANONYMOUS, 0);
  store.recordPass('a', ANONYMOUS, 0);
  proceeded = 99;
  expect(await take()).toBe(false);
  proceeded = 1;
  vi.advanceTimersByTime(MINUTE / 2);
  expect(await take()).toBe(true);
  vi.advanceTimersByTime(MINUTE / 2);
  // Two may proceed in a minute, and one has.
  expect([await take(), await take()]).toEqual([true, false]);
});
