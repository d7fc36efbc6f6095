import { beforeEach, expect, test, vi } from 'vitest';
import { createFailOpenBudget } from '../../src/captcha/fail-open-budget.ts';
import type { Requester } from '../../src/graphql/caller.ts';
import type { Callers, Holder } from '../../src/runtime/shares.ts';

/** How many proceed in an outage over minutes and hours, on a clock that this test moves. */

const [MINUTE, HOUR, MINIMUM] = [60_000, 3_600_000, 10];
const CALLERS: Callers = { hasRouter: true, services: 2 };
let budget = createFailOpenBudget(CALLERS);
beforeEach(() => {
  vi.useFakeTimers();
  budget = createFailOpenBudget(CALLERS);
});

const UNTRACKED: Requester = { kind: 'untracked', id: '' };
const ANONYMOUS: Requester = { kind: 'anonymous', id: '' };
/** Of the router, which names its requesters. */
const of = (requester: Requester, caller: Holder = { name: 'router', isService: false }) => ({ ...caller, requester });
const person = (id: number | string): Requester => ({ kind: 'person', id: `${id}` });
const network = (id: number | string): Requester => ({ kind: 'network', id: `${id}` });

const pass = (count: number, now: number, requesterOf: (n: number) => Requester = () => UNTRACKED) => {
  for (let n = 0; n < count; n += 1) budget.recordPass('a', of(requesterOf(n)), now);
};
/** How many of so many proceed. */
const take = (
  count: number,
  now: number,
  { id = 'a', requester = UNTRACKED }: { id?: string; requester?: Requester } = {},
) => proceeding(Array.from({ length: count }, () => budget.take(id, of(requester), now)));
const proceeding = (taken: readonly boolean[]) => taken.filter(Boolean).length;

test('the budget of an outage, however long it is, is twice the busiest minute of the hour before in each sliding minute', () => {
  pass(5, 0);
  pass(20, 10 * MINUTE);
  pass(7, 30 * MINUTE);
  // Its clock stands still, so the hour before stays the same.
  const now = 31 * MINUTE;
  expect(take(30, now)).toBe(30);
  vi.advanceTimersByTime(MINUTE / 2);
  expect(take(30, now)).toBe(10);
  for (let minute = 1; minute <= 120; minute += 1) {
    vi.advanceTimersByTime(MINUTE / 2);
    expect(take(100, now)).toBe(minute % 2 === 1 ? 30 : 10);
  }
});

test('the budget of an outage counts no passes of more than an hour before', () => {
  pass(20, 0);
  pass(8, MINUTE);
  expect(take(100, HOUR + MINUTE / 2)).toBe(16);
});

test('the first ten captchas of the budget always proceed, once for all captcha ids together', () => {
  expect([take(4, 0), take(4, 0, { id: 'b' }), take(4, 0, { id: 'c' })]).toEqual([4, 4, 2]);
  vi.advanceTimersByTime(HOUR);
  expect(take(100, HOUR)).toBe(0);
});

test.each([
  ['person', 3, person],
  ['network', 12, network],
] as const)(
  'the share of the budget of one %s is %i in a minute, for all captcha ids together, and takes nothing from others',
  (_, most, name) => {
    pass(200, 0, name);
    const requester = name('one');
    expect([take(2, 0, { requester }), take(99, 0, { requester, id: 'b' }), take(99, 0, { requester })]).toEqual([
      2,
      Math.min(most - 2, MINIMUM - 2),
      Math.max(0, most - MINIMUM),
    ]);
    expect(take(99, 0, { requester: name('other') })).toBe(most);
    vi.advanceTimersByTime(MINUTE);
    expect(take(most - 1, 0, { requester })).toBe(most - 1);
    // Each is forgotten after a minute of its own.
    for (const left of [1, most - 1]) {
      vi.advanceTimersByTime(MINUTE / 2);
      expect(take(99, 0, { requester })).toBe(left);
    }
  },
);

test.each([
  ['person', 3, person],
  ['network', 12, network],
] as const)('of 150 passes of one %s in a minute, %i count for the budget', (_, most, name) => {
  pass(150, 0, () => name('bot'));
  pass(150, MINUTE, () => name('bot'));
  const takers = Array.from({ length: 100 }, (__, n) => name(n));
  // The minimum, which is there without any pass, is a part of the bound.
  expect(proceeding(takers.map((requester) => budget.take('a', of(requester), MINUTE)))).toBe(
    Math.max(2 * most, MINIMUM),
  );
});

test('a person and a network of the same name are two requesters', () => {
  pass(200, 0, person);
  pass(200, 0, network);
  expect([
    take(9, 0, { requester: person('203.0.113.7') }),
    take(99, 0, { requester: network('203.0.113.7') }),
  ]).toEqual([3, 12]);
});

test('the share of the budget of networks has no passes of people, and that of people has all of them', () => {
  pass(30, 0, person);
  const takenBy = (requesterOf: typeof person) =>
    proceeding(Array.from({ length: 256 }, (_, n) => budget.take('a', of(requesterOf(n)), 0)));
  expect([takenBy(network), takenBy(person)]).toEqual([MINIMUM, 60]);
});

test('the share of the budget without a person or address, where headers name them, is twice such passes, without the first ten', () => {
  pass(40, 0, person);
  expect(take(100, 0, { requester: ANONYMOUS })).toBe(0);
  pass(7, 0, () => ANONYMOUS);
  expect(take(100, 0, { requester: ANONYMOUS })).toBe(14);
  const named = Array.from({ length: 100 }, (_, n) => person(`${n}`));
  expect(proceeding(named.map((requester) => budget.take('a', of(requester), 0)))).toBe(80);
});

test('the share of the budget of a service has no passes of the router, and its part of the first ten', () => {
  const service = (name: string) => ({ name, isService: true });
  const takenBy = (caller: Holder, from: number) =>
    proceeding(Array.from({ length: 40 }, (_, n) => budget.take('a', of(person(from + n), caller), 0)));
  expect(takenBy(service('orders'), 0)).toBe(2);
  pass(30, 0, person);
  // What people passed through the router counts for the router alone.
  expect(takenBy(service('orders'), 100)).toBe(0);
  expect(takenBy({ name: 'router', isService: false }, 200)).toBe(40);
});
