import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { createContext, createTestClient, requestTo } from './support.ts';

/** How one call ends, and what is reported of it. */

let hangs = false;
const upstream = await startUpstream((_received, response) => {
  if (!hangs) sendJson(response, 200, { a: 1 });
});
const reports: [string, string][] = [];
const client = createTestClient({ onCall: (region, outcome) => reports.push([region, outcome]) });
const failing = createTestClient({
  onCall: () => {
    throw new TypeError('a mistake in a metric');
  },
});
afterAll(() => Promise.all([client.close(), failing.close(), upstream.stop()]));
beforeEach(() => {
  hangs = false;
  reports.length = 0;
});

describe('a call is reported once, with its span', () => {
  const spans: string[] = [];
  const createTracedContext = () =>
    createContext(({ service, region, pathTemplate }) => ({
      headers: { traceparent: `${service} ${region} ${pathTemplate}` },
      end: (outcome, status) => void spans.push(`${outcome} ${status}`),
    }));
  beforeEach(() => {
    spans.length = 0;
    upstream.received.length = 0;
  });

  test('after a response, whose request carried the headers of the span', async () => {
    const context = createTracedContext();
    expect(await client.post(requestTo(upstream.url, context))).toEqual({ status: 200, json: { a: 1 } });
    expect([context.calls.length, spans, reports]).toEqual([1, ['ok 200'], [['GLB', 'ok']]]);
    expect(upstream.received).toMatchObject([{ method: 'POST', headers: { traceparent: 'test GLB /' } }]);
  });

  test('after its deadline', async () => {
    hangs = true;
    const context = createTracedContext();
    await expect(client.post(requestTo(upstream.url, context, 50))).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    expect(context.calls).toHaveLength(1);
    expect([spans, reports]).toEqual([['UPSTREAM_TIMEOUT undefined'], [['GLB', 'UPSTREAM_TIMEOUT']]]);
  });

  test('but not if its address is invalid, so that it was never sent', async () => {
    const context = createTracedContext();
    await expect(client.post(requestTo('nonsense', context))).rejects.toThrow('Invalid URL');
    expect([context.calls, spans, reports]).toEqual([[], [], []]);
  });

  test('and not at all if its operation was cancelled before', async () => {
    const context = createTracedContext();
    context.cancellation.cancel(new Error('disconnected'));
    await expect(client.post(requestTo(upstream.url, context))).rejects.toThrow('disconnected');
    expect(upstream.received).toEqual([]);
    expect([context.calls, spans, reports]).toEqual([[], [], []]);
  });
});

test('a call that is late is OVERLOADED if the event loop lagged for more than a quarter of the deadline, and only then', async () => {
  hangs = true;
  const codeWith = async (total: number) => {
    let lagMs = 0;
    const lagging = createTestClient({ eventLoop: { totalLagMs: () => lagMs } });
    const call = lagging.post(requestTo(upstream.url, createContext(), 1_200));
    lagMs = total;
    const code = await call.catch((error: { code: string }) => error.code);
    await lagging.close();
    return code;
  };
  expect(await Promise.all([codeWith(450), codeWith(300)])).toEqual(['OVERLOADED', 'UPSTREAM_TIMEOUT']);
});

// A mistake in what counts calls must fail those calls and nothing else: no call may hang, and the process must not
// crash.
describe('a report that throws fails the call', () => {
  test('after a response', async () => {
    await expect(failing.post(requestTo(upstream.url, createContext()))).rejects.toThrow('a mistake in a metric');
  });

  test('after the deadline', async () => {
    hangs = true;
    const call = failing.post(requestTo(upstream.url, createContext(), 50));
    await expect(call).rejects.toThrow('a mistake in a metric');
  });

  test('after a cancellation, which ends the other calls of the operation as well', async () => {
    hangs = true;
    const context = createContext();
    const calls = [failing.post(requestTo(upstream.url, context)), failing.post(requestTo(upstream.url, context))];
    const outcomes = Promise.allSettled(calls);
    context.cancellation.cancel(new Error('disconnected'));
    expect(await outcomes).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  });
});
