import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Bulkhead, type Dequeue } from '../../src/upstream/bulkhead.ts';

/** Which calls run, which ones wait, and in which order. */

/** A call that is under way until the test ends it. */
function callOf(begun: string[], name: string) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const call = () => {
    begun.push(name);
    return promise;
  };
  return { call, end: () => resolve(name), fail: () => reject(new Error(name)) };
}

const neverQueued = () => expect.unreachable('the call should not have to wait');
const queued = () => {};

test('calls begin at once up to the limit, then in the order in which they came', async () => {
  const bulkhead = new Bulkhead(2, 2);
  const begun: string[] = [];
  const a = callOf(begun, 'a');
  const b = callOf(begun, 'b');
  const c = callOf(begun, 'c');
  const d = callOf(begun, 'd');
  const ended = [bulkhead.run({}, a.call, neverQueued), bulkhead.run({}, b.call, neverQueued)];
  expect(begun).toEqual(['a', 'b']);
  ended.push(bulkhead.run({}, c.call, queued), bulkhead.run({}, d.call, queued));
  expect([bulkhead.inFlight, bulkhead.queued]).toEqual([2, 2]);
  await expect(bulkhead.run({}, a.call, neverQueued)).rejects.toMatchObject({ code: 'OVERLOADED' });

  // A call that fails is replaced as well.
  b.fail();
  await expect(ended[1]).rejects.toThrow('b');
  await nextTurn();
  expect(begun).toEqual(['a', 'b', 'c']);
  for (const { end } of [a, c, d]) end();
  expect(await Promise.all([ended[0], ended[2], ended[3]])).toEqual(['a', 'c', 'd']);
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  expect([bulkhead.inFlight, bulkhead.queued]).toEqual([0, 0]);
});

test('a new call never begins before one that waits', async () => {
  const bulkhead = new Bulkhead(1, 1);
  const begun: string[] = [];
  const first = callOf(begun, 'first');
  const waiting = callOf(begun, 'waiting');
  const late = callOf(begun, 'late');
  const ended = bulkhead.run({}, first.call, neverQueued);
  const waited = bulkhead.run({}, waiting.call, queued);
  first.end();
  await ended;
  // The call that waited is under way already, so this one has to wait.
  const last = bulkhead.run({}, late.call, queued);
  waiting.end();
  late.end();
  expect(await Promise.all([waited, last])).toEqual(['waiting', 'late']);
  expect(begun).toEqual(['first', 'waiting', 'late']);
});

test('a call that is removed from the queue is never made, and another one can wait instead; a later removal does nothing', async () => {
  const bulkhead = new Bulkhead(1, 1);
  const begun: string[] = [];
  const first = callOf(begun, 'first');
  const second = callOf(begun, 'second');
  const next = callOf(begun, 'next');
  const ended = bulkhead.run({}, first.call, neverQueued);
  const dequeues: Dequeue[] = [];
  const removed = bulkhead.run({}, second.call, (dequeue) => dequeues.push(dequeue));
  dequeues[0]?.();
  await expect(removed).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(bulkhead.queued).toBe(0);

  const served = bulkhead.run({}, next.call, (dequeue) => dequeues.push(dequeue));
  first.end();
  await ended;
  for (const dequeue of dequeues) dequeue();
  next.end();
  expect(await served).toBe('next');
  expect(begun).toEqual(['first', 'next']);
  expect([bulkhead.inFlight, bulkhead.queued]).toEqual([0, 0]);
});

test('operations take turns, whatever the number of their calls', async () => {
  const bulkhead = new Bulkhead(1, 10);
  const begun: string[] = [];
  const [many, one, other] = [{}, {}, {}];
  const first = callOf(begun, 'first');
  const calls = ['a1', 'a2', 'a3', 'b1', 'c1'].map((name) => callOf(begun, name));
  const ended = bulkhead.run({}, first.call, neverQueued);
  const owners = [many, many, many, one, other];
  const waited = calls.map(({ call }, i) => bulkhead.run(owners[i] ?? {}, call, queued));
  first.end();
  for (const { end } of calls) end();
  await Promise.all([ended, ...waited]);
  expect(begun).toEqual(['first', 'a1', 'b1', 'c1', 'a2', 'a3']);
  expect([bulkhead.inFlight, bulkhead.queued]).toEqual([0, 0]);
});

test('a full queue drops the newest call of the operation that has most in it, and never for one that has as many', async () => {
  const bulkhead = new Bulkhead(1, 3);
  const begun: string[] = [];
  const [many, one] = [{}, {}];
  const first = callOf(begun, 'first');
  const calls = ['a1', 'a2', 'a3', 'b1', 'b2'].map((name) => callOf(begun, name));
  const ended = bulkhead.run({}, first.call, neverQueued);
  const owners = [many, many, many, one, one];
  const waited = calls.map(({ call }, i) => bulkhead.run(owners[i] ?? {}, call, queued));
  const outcomes = Promise.allSettled(waited);
  expect(bulkhead.queued).toBe(3);
  first.end();
  for (const { end } of calls) end();
  await ended;
  const failed = (await outcomes).map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'made'));
  // b2 would make b as large as a, which gains nobody anything.
  expect(failed).toEqual(['made', 'made', 'OVERLOADED', 'made', 'OVERLOADED']);
  expect(begun).toEqual(['first', 'a1', 'b1', 'a2']);
  expect([bulkhead.inFlight, bulkhead.queued]).toEqual([0, 0]);
});
