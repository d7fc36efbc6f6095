import { expect, test } from 'vitest';
import { Bulkhead, type Leave } from '../../src/upstream/bulkhead.ts';

/** Who gets room, and in which order. */

/** A call that is under way until it is told to end. */
function callOf(begun: string[], name: string) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const call = () => {
    begun.push(name);
    return promise;
  };
  return { call, end: () => resolve(name), fail: () => reject(new Error(name)) };
}

const neverWaits = () => expect.unreachable('there was room');
const waits = () => {};

test('calls begin at once while there is room, then in the order in which they came', async () => {
  const bulkhead = new Bulkhead(2, 2);
  const begun: string[] = [];
  const a = callOf(begun, 'a');
  const b = callOf(begun, 'b');
  const c = callOf(begun, 'c');
  const d = callOf(begun, 'd');
  const ended = [bulkhead.run(a.call, neverWaits), bulkhead.run(b.call, neverWaits)];
  expect(begun).toEqual(['a', 'b']);
  ended.push(bulkhead.run(c.call, waits), bulkhead.run(d.call, waits));
  expect([bulkhead.inFlight, bulkhead.queued]).toEqual([2, 2]);
  await expect(bulkhead.run(a.call, neverWaits)).rejects.toMatchObject({ code: 'OVERLOADED' });

  // One that fails makes room as well.
  b.fail();
  await expect(ended[1]).rejects.toThrow('b');
  expect(begun).toEqual(['a', 'b', 'c']);
  for (const { end } of [a, c, d]) end();
  expect(await Promise.all([ended[0], ended[2], ended[3]])).toEqual(['a', 'c', 'd']);
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  expect([bulkhead.inFlight, bulkhead.queued]).toEqual([0, 0]);
});

test('nobody comes in before one that waited', async () => {
  const bulkhead = new Bulkhead(1, 1);
  const begun: string[] = [];
  const first = callOf(begun, 'first');
  const waiting = callOf(begun, 'waiting');
  const late = callOf(begun, 'late');
  const ended = bulkhead.run(first.call, neverWaits);
  const waited = bulkhead.run(waiting.call, waits);
  first.end();
  await ended;
  // The room is given away already, so that there is only the line.
  const lastly = bulkhead.run(late.call, waits);
  waiting.end();
  late.end();
  expect(await Promise.all([waited, lastly])).toEqual(['waiting', 'late']);
  expect(begun).toEqual(['first', 'waiting', 'late']);
});

test('one that leaves the line is never made, and its place is free; leaving late does nothing', async () => {
  const bulkhead = new Bulkhead(1, 1);
  const begun: string[] = [];
  const first = callOf(begun, 'first');
  const gone = callOf(begun, 'gone');
  const next = callOf(begun, 'next');
  const ended = bulkhead.run(first.call, neverWaits);
  const leaves: Leave[] = [];
  const left = bulkhead.run(gone.call, (leave) => leaves.push(leave));
  leaves[0]?.();
  await expect(left).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(bulkhead.queued).toBe(0);

  const served = bulkhead.run(next.call, (leave) => leaves.push(leave));
  first.end();
  await ended;
  for (const leave of leaves) leave();
  next.end();
  expect(await served).toBe('next');
  expect(begun).toEqual(['first', 'next']);
  expect([bulkhead.inFlight, bulkhead.queued]).toEqual([0, 0]);
});
