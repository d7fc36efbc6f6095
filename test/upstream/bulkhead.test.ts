import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Bulkhead } from '../../src/upstream/bulkhead.ts';

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

type MakeCall = ReturnType<typeof callOf>['call'];

/** Of an operation that is never cancelled. */
const { signal } = new AbortController();

/** Makes the call as the client does. `wasQueued` says whether it has to wait. */
function submit(bulkhead: Bulkhead, caller: string, call: MakeCall) {
  const wasQueued = !bulkhead.tryEnter();
  const run = () => call().finally(() => bulkhead.release());
  return { wasQueued, ended: wasQueued ? bulkhead.wait(caller, signal).then(run) : run() };
}

function run(bulkhead: Bulkhead, caller: string, call: MakeCall, isQueued: boolean): Promise<string> {
  const { ended, wasQueued } = submit(bulkhead, caller, call);
  expect(wasQueued).toBe(isQueued);
  return ended;
}

test('calls begin at once up to the limit, then in the order in which they came', async () => {
  const bulkhead = new Bulkhead(2, 2);
  const begun: string[] = [];
  const a = callOf(begun, 'a');
  const b = callOf(begun, 'b');
  const c = callOf(begun, 'c');
  const d = callOf(begun, 'd');
  const ended = [run(bulkhead, 'router', a.call, false), run(bulkhead, 'router', b.call, false)];
  expect(begun).toEqual(['a', 'b']);
  ended.push(run(bulkhead, 'router', c.call, true), run(bulkhead, 'router', d.call, true));
  expect([bulkhead.inFlight, bulkhead.queued]).toEqual([2, 2]);
  await expect(run(bulkhead, 'router', a.call, true)).rejects.toMatchObject({ code: 'OVERLOADED' });

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

test('callers take turns, and a full queue drops the newest call of the busiest caller', async () => {
  const bulkhead = new Bulkhead(1, 4);
  const begun: string[] = [];
  const calls = ['first', 's1', 's2', 's3', 's4', 'r1', 'r2', 'r3'].map((name) => callOf(begun, name));
  const ended = calls.map(({ call }, i) => submit(bulkhead, i < 5 ? 'orders' : 'router', call).ended);
  for (const { end } of calls) end();
  const outcomes = await Promise.allSettled(ended);
  // r3 would give the router more than the service has.
  expect(begun).toEqual(['first', 's1', 'r1', 's2', 'r2']);
  const refused = outcomes.flatMap((one, at) => (one.status === 'rejected' ? [[at, one.reason.code]] : []));
  expect(refused).toEqual([3, 4, 7].map((at) => [at, 'OVERLOADED']));
});

test('each of three callers has every third turn, whatever the number of its calls', async () => {
  const bulkhead = new Bulkhead(1, 10);
  const begun: string[] = [];
  const calls = ['first', 's1', 's2', 's3', 'r1', 'r2', 'm1'].map((name) => callOf(begun, name));
  const callers = ['orders', 'orders', 'orders', 'orders', 'router', 'router', 'accounts'];
  const ended = calls.map(({ call }, i) => submit(bulkhead, callers[i] ?? '', call).ended);
  for (const { end } of calls) end();
  await Promise.all(ended);
  expect(begun).toEqual(['first', 's1', 'r1', 'm1', 's2', 'r2', 's3']);
});

test('a call that is cancelled while it waits leaves the queue at once, and its place to another one', async () => {
  const bulkhead = new Bulkhead(1, 1);
  const begun: string[] = [];
  const [first, other] = [callOf(begun, 'first'), callOf(begun, 'other')];
  const ended = run(bulkhead, 'router', first.call, false);
  const operation = new AbortController();
  const cancelled = expect(bulkhead.wait('router', operation.signal)).rejects.toThrow('disconnected');
  expect(bulkhead.queued).toBe(1);
  operation.abort(new Error('disconnected'));
  await cancelled;
  expect(bulkhead.queued).toBe(0);
  const waited = run(bulkhead, 'router', other.call, true);
  first.end();
  other.end();
  expect(await Promise.all([ended, waited])).toEqual(['first', 'other']);
});
