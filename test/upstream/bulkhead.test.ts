import { expect, test } from 'vitest';
import { Bulkhead } from '../../src/upstream/bulkhead.ts';

/** Which calls run, which ones wait, and in which order. */

/** A call that is under way until the test ends it. */
function callOf(begun: string[], name: string) {
  const { promise, resolve } = Promise.withResolvers<string>();
  const call = () => {
    begun.push(name);
    return promise;
  };
  return { call, end: () => resolve(name) };
}

type MakeCall = ReturnType<typeof callOf>['call'];

/** Of an operation that is never cancelled. */
const { signal } = new AbortController();

/** A bulkhead with one free place, whose queue holds this many calls. */
function bulkheadFor(maxQueue: number): Bulkhead {
  const bulkhead = new Bulkhead(maxQueue);
  while (bulkhead.inFlight < maxQueue - 1) bulkhead.tryEnter();
  return bulkhead;
}

/** Makes the call as the client does. `wasQueued` says whether it has to wait. */
function submit(bulkhead: Bulkhead, caller: string, call: MakeCall, operation: object = {}) {
  const wasQueued = !bulkhead.tryEnter();
  const run = () => call().finally(() => bulkhead.release());
  return { wasQueued, ended: wasQueued ? bulkhead.wait(caller, operation, signal).then(run) : run() };
}

function run(bulkhead: Bulkhead, caller: string, call: MakeCall, isQueued: boolean): Promise<string> {
  const { ended, wasQueued } = submit(bulkhead, caller, call);
  expect(wasQueued).toBe(isQueued);
  return ended;
}

test('a new call never begins before one that waits', async () => {
  const bulkhead = new Bulkhead(1);
  const begun: string[] = [];
  const first = callOf(begun, 'first');
  const waiting = callOf(begun, 'waiting');
  const late = callOf(begun, 'late');
  const ended = run(bulkhead, 'router', first.call, false);
  const waited = run(bulkhead, 'router', waiting.call, true);
  first.end();
  await ended;
  // The call that waited is under way already, so this one has to wait.
  const last = run(bulkhead, 'router', late.call, true);
  waiting.end();
  late.end();
  expect(await Promise.all([waited, last])).toEqual(['waiting', 'late']);
  expect(begun).toEqual(['first', 'waiting', 'late']);
});

const ORDERS = ['orders', 'orders', 'orders', 'orders'];
test.each([
  // r3 would give the router more than the service has.
  [
    'a full queue drops the newest call of the busiest one',
    4,
    ['first', 's1', 's2', 's3', 's4', 'r1', 'r2', 'r3'],
    [...ORDERS, 'orders', 'router', 'router', 'router'],
    ['first', 's1', 'r1', 's2', 'r2'],
    [3, 4, 7],
  ],
  [
    'of three, the busiest one need not be the first or the last one',
    5,
    ['first', 'm1', 's1', 's2', 's3', 'r1', 'r2'],
    ['orders', 'accounts', 'orders', 'orders', 'orders', 'router', 'router'],
    ['first', 'm1', 's1', 'r1', 's2', 'r2'],
    [4],
  ],
  [
    'each of three has every third turn, whatever the number of its calls',
    10,
    ['first', 's1', 's2', 's3', 'r1', 'r2', 'm1'],
    [...ORDERS, 'router', 'router', 'accounts'],
    ['first', 's1', 'r1', 'm1', 's2', 'r2', 's3'],
    [],
  ],
])('callers take turns: %s', async (_what, maxQueue, names, callers, expected, refused) => {
  const bulkhead = bulkheadFor(maxQueue);
  const begun: string[] = [];
  const calls = names.map((name) => callOf(begun, name));
  const ended = calls.map(({ call }, at) => submit(bulkhead, callers[at] ?? '', call).ended);
  for (const { end } of calls) end();
  const outcomes = await Promise.allSettled(ended);
  expect(begun).toEqual(expected);
  const failed = outcomes.flatMap((one, at) => (one.status === 'rejected' ? [[at, one.reason.code]] : []));
  expect(failed).toEqual(refused.map((at) => [at, 'OVERLOADED']));
});

test('a full queue drops the newest call of the operation that has most of it, so one of a hundred tokens keeps no other out', async () => {
  const bulkhead = bulkheadFor(4);
  const begun: string[] = [];
  const large = {};
  const names = ['first', 'l1', 'l2', 'l3', 'l4', 'p1', 'l5', 'p2', 'p3', 'p4'];
  const calls = names.map((name) => callOf(begun, name));
  const ended = calls.map(
    ({ call }, at) => submit(bulkhead, 'router', call, names[at]?.startsWith('l') ? large : {}).ended,
  );
  for (const { end } of calls) end();
  const outcomes = await Promise.allSettled(ended);
  // The large operation gets no place back, and people who are equal none of each other.
  const refused = names.filter((_, at) => outcomes[at]?.status === 'rejected');
  expect([begun, refused]).toEqual([
    ['first', 'l1', 'p1', 'p2', 'p3'],
    ['l2', 'l3', 'l4', 'l5', 'p4'],
  ]);
});

test('a call that is cancelled while it waits leaves the queue at once, and its place to another one', async () => {
  const bulkhead = new Bulkhead(1);
  const begun: string[] = [];
  const [first, other] = [callOf(begun, 'first'), callOf(begun, 'other')];
  const ended = run(bulkhead, 'router', first.call, false);
  const operation = new AbortController();
  const cancelled = expect(bulkhead.wait('router', {}, operation.signal)).rejects.toThrow('disconnected');
  expect(bulkhead.queued).toBe(1);
  operation.abort(new Error('disconnected'));
  await cancelled;
  expect(bulkhead.queued).toBe(0);
  const waited = run(bulkhead, 'router', other.call, true);
  first.end();
  other.end();
  expect(await Promise.all([ended, waited])).toEqual(['first', 'other']);
});
