import { describe, expect, onTestFinished, test } from 'vitest';
import { Resolver } from '../../src/runtime/dns.ts';
import { PendingRequest, Transport } from '../../src/upstream/transport.ts';
import { answer, type Behaviour, hang, startHostile } from '../support/hostile.ts';

/** How responses are read at the level of HTTP. test/faults has what an upstream can do wrong. */

async function start(behave: Behaviour) {
  const upstream = await startHostile(behave);
  const transport = new Transport(new Resolver());
  onTestFinished(upstream.stop);
  onTestFinished(() => transport.close());
  const pool = transport.poolFor(upstream.url);
  return { upstream, transport, request: new PendingRequest(pool, { path: '/', method: 'POST', body: '{}' }) };
}

/** Each character is one byte, so that `\u00ff` is one that UTF-8 does not have. */
const responseOf = async (status: number, body: string) => {
  const { request } = await start(answer(status, Buffer.from(body, 'latin1')));
  return request.send();
};

describe('a body', () => {
  test('that is JSON is parsed, without the keys that could reach a prototype', async () => {
    expect(await responseOf(200, '{"a":1,"__proto__":{"b":2}}')).toEqual({ status: 200, json: { a: 1 } });
  });

  test('that is not JSON is no error, whatever the status', async () => {
    expect(await responseOf(200, '<html>')).toEqual({ status: 200, json: undefined });
    expect(await responseOf(502, '')).toEqual({ status: 502, json: undefined });
  });

  test('that is JSON but not UTF-8 is kept apart, with U+FFFD for what is broken', async () => {
    const response = await responseOf(200, '{"a":"b\u00ff"}');
    expect(response).toEqual({ status: 200, json: undefined, lossyJson: { a: 'b\ufffd' } });
  });
});

describe('an abort', () => {
  test('rejects with its reason at once, and closes the socket', async () => {
    const { upstream, request } = await start(hang);
    const response = request.send();
    await expect.poll(() => upstream.open).toBe(1);
    request.abort(new Error('disconnected'));
    await expect(response).rejects.toThrow('disconnected');
    await expect.poll(() => upstream.open).toBe(0);
  });

  test('before there is a connection keeps the request from being sent', async () => {
    const { upstream, request } = await start(answer(200, '{}'));
    const response = request.send();
    request.abort(new Error('disconnected'));
    await expect(response).rejects.toThrow('disconnected');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(upstream.requests).toBe(0);
  });

  test('after the response changes nothing', async () => {
    const { request } = await start(answer(200, '{}'));
    const response = request.send();
    expect(await response).toEqual({ status: 200, json: {} });
    request.abort(new Error('disconnected'));
    expect(await response).toEqual({ status: 200, json: {} });
  });
});

test('an address has one pool', async () => {
  const { upstream, transport } = await start(hang);
  expect(transport.poolFor(upstream.url)).toBe(transport.poolFor(upstream.url));
  expect(transport.poolFor('http://127.0.0.1:9')).not.toBe(transport.poolFor(upstream.url));
});
