import { beforeEach, expect, test, vi } from 'vitest';
import type { Callers, Holder, Requester } from '../../src/callers/shares.ts';
import { createFailOpenBudget } from '../../src/captcha/fail-open-budget.ts';

/** How many proceed in an outage over minutes and hours, on a clock that this test moves. */

const [MINUTE, HOUR, MINIMUM] = [60_000, 3_600_000, 10];
const CALLERS: Callers = {
  hasRouter: true,
  services: new Map([
    ['orders', undefined],
    ['batch', undefined],
  ]),
};
let budget = createFailOpenBudget(CALLERS);
beforeEach(() => {
  vi.useFakeTimers();
  budget = createFailOpenBudget(CALLERS);
});

const UNTRACKED: Requester = { kind: 'untracked', id: '' };
const ANONYMOUS: Requester = { kind: 'anonymous', id: '' };
/** Of the router, which names its requesters. */
const of = (requester: Requester, caller: Holder = { name: 'router', isService: false }) =>
  [caller, requester] as const;
const person = (id: number | string): Requester => ({ kind: 'person', id: `${id}` });
const network = (id: number | string): Requester => ({ kind: 'network', id: `${id}` });

const pass = (count: number, requesterOf: (n: number) => Requester = () => UNTRACKED) => {
  for (let n = 0; n < count; n += 1) budget.recordPass('a', ...of(requesterOf(n)));
};
/** How many of so many proceed. */
const take = (count: number, { id = 'a', requester = UNTRACKED }: { id?: string; requester?: Requester } = {}) =>
  proceeding(Array.from({ length: count }, () => budget.take(id, ...of(requester))));
const proceeding = (taken: readonly boolean[]) => taken.filter(Boolean).length;

test('the budget of an outage, however long it is, is twice the busiest minute of the hour before in each sliding minute', () => {
  pass(5);
  vi.advanceTimersByTime(10 * MINUTE);
  pass(20);
  vi.advanceTimersByTime(20 * MINUTE);
  pass(7);
  // In an outage nobody passes, so the hour before stays the same.
  vi.advanceTimersByTime(MINUTE);
  expect(take(30)).toBe(30);
  vi.advanceTimersByTime(MINUTE / 2);
  expect(take(30)).toBe(10);
  for (let minute = 1; minute <= 120; minute += 1) {
    vi.advanceTimersByTime(MINUTE / 2);
    expect(take(100)).toBe(minute % 2 === 1 ? 30 : 10);
  }
});

test('the budget of an outage counts no passes of more than an hour before the last one, which may be of another kind', () => {
  pass(20);
  vi.advanceTimersByTime(MINUTE);
  pass(8);
  vi.advanceTimersByTime(HOUR - MINUTE / 2);
  pass(1, person);
  expect(take(100)).toBe(16);
});

test('each process counts alone: n processes let the first 10 n captchas proceed, and 3 n a minute of one person', () => {
  for (const process of [1, 2, 3]) {
    budget = createFailOpenBudget(CALLERS);
    expect([process, take(99, { requester: person('one') })]).toEqual([process, 3]);
    // Once for all captcha ids together.
    expect([take(4), take(4, { id: 'b' }), take(4, { id: 'c' })]).toEqual([4, 3, 0]);
    vi.advanceTimersByTime(HOUR);
    expect(take(100)).toBe(0);
  }
});

test.each([
  ['person', 3, person],
  ['network', 12, network],
] as const)(
  'the share of the budget of one %s is %i in a minute, for all captcha ids together, and takes nothing from others',
  (_, most, name) => {
    pass(200, name);
    const requester = name('one');
    expect([take(2, { requester }), take(99, { requester, id: 'b' }), take(99, { requester })]).toEqual([
      2,
      Math.min(most - 2, MINIMUM - 2),
      Math.max(0, most - MINIMUM),
    ]);
    expect(take(99, { requester: name('other') })).toBe(most);
    vi.advanceTimersByTime(MINUTE);
    expect(take(most - 1, { requester })).toBe(most - 1);
    // Each is forgotten after a minute of its own.
    for (const left of [1, most - 1]) {
      vi.advanceTimersByTime(MINUTE / 2);
      expect(take(99, { requester })).toBe(left);
    }
  },
);

test.each([
  ['person', 3, person],
  ['network', 12, network],
] as const)('of 150 passes of one %s in a minute, %i count for the budget', (_, most, name) => {
  pass(150, () => name('bot'));
  vi.advanceTimersByTime(MINUTE);
  pass(150, () => name('bot'));
  const takers = Array.from({ length: 100 }, (__, n) => name(n));
  // The minimum, which is there without any pass, is a part of the bound.
  expect(proceeding(takers.map((requester) => budget.take('a', ...of(requester))))).toBe(Math.max(2 * most, MINIMUM));
});

test('a person and a network of the same name are two requesters', () => {
  pass(200, person);
  pass(200, network);
  expect([take(9, { requester: person('203.0.113.7') }), take(99, { requester: network('203.0.113.7') })]).toEqual([
    3, 12,
  ]);
});

test('the share of the budget of networks has no passes of people, and that of people has all of them', () => {
  pass(30, person);
  const takenBy = (requesterOf: typeof person) =>
    proceeding(Array.from({ length: 256 }, (_, n) => budget.take('a', ...of(requesterOf(n)))));
  expect([takenBy(network), takenBy(person)]).toEqual([MINIMUM, 60]);
});

test('the share of the budget without a person or address, where headers name them, is twice such passes, without the first ten', () => {
  pass(40, person);
  expect(take(100, { requester: ANONYMOUS })).toBe(0);
  pass(7, () => ANONYMOUS);
  expect(take(100, { requester: ANONYMOUS })).toBe(14);
  const named = Array.from({ length: 100 }, (_, n) => person(`${n}`));
  expect(proceeding(named.map((requester) => budget.take('a', ...of(requester))))).toBe(80);
});

test('the share of the budget of a service has no passes of the router, and its part of the first ten', () => {
  const service = (name: string) => ({ name, isService: true });
  const takenBy = (caller: Holder, from: number) =>
    proceeding(Array.from({ length: 40 }, (_, n) => budget.take('a', ...of(person(from + n), caller))));
  expect(takenBy(service('orders'), 0)).toBe(2);
  pass(30, person);
  // What people passed through the router counts for the router alone.
  expect(takenBy(service('orders'), 100)).toBe(0);
  expect(takenBy({ name: 'router', isService: false }, 200)).toBe(40);
});
