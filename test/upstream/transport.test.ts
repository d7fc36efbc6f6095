import type { Dispatcher } from 'undici';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createDnsCache } from '../../src/runtime/dns.ts';
import { openPool } from '../../src/upstream/pool.ts';
import { PendingRequest } from '../../src/upstream/transport.ts';
import { toUpstreamError } from '../../src/upstream/transport-errors.ts';
import { collectGarbage } from '../support/garbage.ts';
import { answer, type Behaviour, startHostile, thenClose } from '../support/hostile.ts';
import { untilEnd } from '../support/until-end.ts';

/** How responses are read at the level of HTTP, and whose failure an error of the transport is. test/faults has what an upstream can do wrong. */

async function start(behave: Behaviour) {
  const upstream = await untilEnd(startHostile(behave));
  const pool = openPool(upstream.url, createDnsCache());
  onTestFinished(() => pool.close());
  const target = { id: 'a', origin: upstream.url, path: '/', headers: {} };
  return pool.post(target, '{}', new AbortController().signal);
}

/** Each character is one byte, so that `\u00ff` is one that UTF-8 does not have. */
const responseOf = async (status: number, body: string, headers = {}) => {
  const { response } = await start(answer(status, Buffer.from(body, 'latin1'), headers));
  return response;
};

describe('a body', () => {
  test('a body is left as it is where it looks like the head of an interim response', async () => {
    expect(await responseOf(200, '{\r\n\r\n"a":     100}')).toEqual({ status: 200, json: { a: 100 } });
  });

  // Sixty such bodies at once exhausted the heap of a pod.
  test('a body in chunks of one byte takes little memory, and is read whole', async () => {
    const carrier = { dispatch: () => () => {}, prepareRetry: async () => {} };
    const request = new PendingRequest(carrier, { method: 'POST', path: '/' }, new AbortController().signal);
    // Safe: it is only passed on, and nothing is aborted.
    const controller = {} as Dispatcher.DispatchController;
    const heapUsed = () => {
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    const text = JSON.stringify({ a: '0123456789'.repeat(10_000) });
    request.onResponseStart(controller, 200, {});
    const before = heapUsed();
    for (const character of text) request.onResponseData(controller, Buffer.from(character));
    expect(heapUsed() - before).toBeLessThan(2_000_000);
    request.onResponseEnd();
    expect(JSON.stringify((await request.response).json)).toBe(text);
  });

  test('a body on a connection that breaks is read if it is whole, unless the status is 200', async () => {
    const broken = (status: number) => start(thenClose(answer(status, '{"a":1}', { 'content-length': '99' })));
    for (const status of [302, 404, 502])
      expect(await (await broken(status)).response).toEqual({ status, json: { a: 1 } });
    const { response } = await broken(200);
    await expect(response).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE', why: 'unreadable' });
  });

  test.each([
    ['gzip', 'the content encoding "gzip"'],
    [' identity , br', 'the content encoding "br"'],
    // Only a plain word may be logged.
    ['"gzip"; q=1', 'a content encoding'],
    ['', undefined],
    ['identity,', undefined],
    ['Identity', undefined],
  ])('a body with the content encoding %j is not read, but named: %s', async (encoding, named) => {
    const unreadable = `a body with ${named}, which the request does not accept`;
    expect(await responseOf(200, '{"a":1}', { 'content-encoding': encoding })).toEqual(
      named ? { status: 200, json: undefined, unreadable } : { status: 200, json: { a: 1 } },
    );
  });
});

const failure = (code: string, address?: string) => Object.assign(new Error(code), { code, address });

describe('what fails on this machine is no failure of the upstream', () => {
  test.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'ENETUNREACH', 'ENETDOWN', 'EPERM', 'EACCES'])(
    'a failure with %s is one of this machine, and no outage',
    (code) => {
      expect(toUpstreamError(failure(code)).code).toBe('OVERLOADED');
      const attempts = [failure('ECONNREFUSED', '203.0.113.9'), failure(code, '203.0.113.10')];
      expect(toUpstreamError(new AggregateError(attempts)).code).toBe('OVERLOADED');
    },
  );

  test.each(['EADDRNOTAVAIL', 'ENETUNREACH'])('an IPv6 address without IPv6 with %s says nothing', (code) => {
    const attempts = [failure(code, '2001:db8::9'), failure('ECONNREFUSED', '203.0.113.9')];
    expect(toUpstreamError(new AggregateError(attempts)).code).toBe('UPSTREAM_UNAVAILABLE');
    expect(toUpstreamError(new AggregateError([failure(code, '2001:db8::9')])).code).toBe('OVERLOADED');
  });
});

test.each([
  // A handshake, and reasons of X509_verify_cert_error_string, as Node names them.
  ...[
    ...['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', 'HOSTNAME_MISMATCH', 'PATH_LENGTH_EXCEEDED', 'UNSPECIFIED'],
    ...['SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ].map((code) => [code, 'UPSTREAM_REJECTED']),
  ...['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ETIMEDOUT'].map((code) => [code, 'UPSTREAM_UNAVAILABLE']),
  ['ERR_ASSERTION', 'UPSTREAM_PROTOCOL_ERROR'],
  ['ERR_OF_NEXT_YEAR', 'UPSTREAM_PROTOCOL_ERROR'],
])('only a refused or broken connection is an outage: %s is %s', (code, expected) => {
  expect(toUpstreamError(failure(`${code}`, '203.0.113.7')).code).toBe(expected);
});
