import { beforeEach, expect, test, vi } from 'vitest';
import { OutageAllowance } from '../../src/captcha/outage-allowance.ts';

/** How many proceed in an outage over minutes and hours, on a clock that this test moves. */

const [MINUTE, HOUR] = [60_000, 3_600_000];
let allowance = new OutageAllowance();
beforeEach(() => {
  vi.useFakeTimers();
  allowance = new OutageAllowance();
});

const pass = (count: number, now: number) => {
  for (let n = 0; n < count; n += 1) allowance.recordPass('a', now);
};
/** How many of so many proceed. */
const take = (count: number, now: number, { id = 'a', person }: { id?: string; person?: string } = {}) =>
  Array.from({ length: count }, () => allowance.take(id, now, person)).filter(Boolean).length;

test('however long an outage is, twice the busiest minute of the hour before may proceed in each sliding minute', () => {
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

test('passes of more than an hour before do not count', () => {
  pass(20, 0);
  pass(8, MINUTE);
  expect(take(100, HOUR + MINUTE / 2)).toBe(16);
});

test('the minimum is 10 once, for all captcha ids together', () => {
  expect([take(4, 0), take(4, 0, { id: 'b' }), take(4, 0, { id: 'c' })]).toEqual([4, 4, 2]);
  vi.advanceTimersByTime(HOUR);
  expect(take(100, HOUR)).toBe(0);
});

test('one person gets 3 in a minute, for all captcha ids together, and takes nothing from others', () => {
  pass(20, 0);
  const person = 'one';
  expect([take(2, 0, { person }), take(9, 0, { person, id: 'b' }), take(9, 0, { person })]).toEqual([2, 1, 0]);
  expect(take(9, 0, { person: 'other' })).toBe(3);
  vi.advanceTimersByTime(MINUTE);
  expect(take(9, 0, { person })).toBe(3);
});
