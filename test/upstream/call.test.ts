import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type Caller, Cancellation } from '../../src/upstream/call-context.ts';
import { createUpstreamHttp } from '../../src/upstream/client.ts';
import { createGuard } from '../../src/upstream/policy.ts';
import type { UpstreamAnswer } from '../../src/upstream/transport.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** A mistake in what counts calls must fail the calls that it is told of, and nothing else: neither hang nor crash. */

let hangs = false;
const upstream = await startUpstream((_received, response) => {
  if (!hangs) sendJson(response, 200, { a: 1 });
});
const guard = createGuard<UpstreamAnswer>({ inFlight: 10, queue: 10, isFault: () => false, onBreaker: () => {} });
const http = createUpstreamHttp({
  service: 'test',
  guardFor: () => guard,
  onCall: () => {
    throw new TypeError('a mistake in a metric');
  },
});
afterAll(() => Promise.all([http.close(), upstream.stop()]));
beforeEach(() => {
  hangs = false;
});

const callerOf = (): Caller => ({ requestId: 'r', cancellation: new Cancellation(), calls: 0, callMs: 0 });
const post = (caller: Caller, timeoutMs = 5_000) =>
  http.post({ region: 'GLB', origin: upstream.url, path: '/', headers: {}, body: '', timeoutMs, caller });

describe('counting that throws fails the call', () => {
  test('after an answer', async () => {
    await expect(post(callerOf())).rejects.toThrow('a mistake in a metric');
  });

  test('after the deadline', async () => {
    hangs = true;
    await expect(post(callerOf(), 50)).rejects.toThrow('a mistake in a metric');
  });

  test('when the caller hangs up, and the other calls of the operation are ended as well', async () => {
    hangs = true;
    const caller = callerOf();
    const calls = [post(caller), post(caller)];
    const outcomes = Promise.allSettled(calls);
    caller.cancellation.cancel(new Error('hung up'));
    expect(await outcomes).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  });
});

test('an address that is none is the end of its call, with nothing left open', async () => {
  const spans: string[] = [];
  const caller: Caller = {
    ...callerOf(),
    startSpan: () => ({ headers: {}, end: (outcome) => void spans.push(outcome) }),
  };
  const request = { region: 'GLB', origin: 'nonsense', path: '/', headers: {}, body: '', timeoutMs: 5_000, caller };
  await expect(http.post(request)).rejects.toThrow('Invalid URL');
  expect([caller.calls, spans]).toEqual([0, []]);
});
