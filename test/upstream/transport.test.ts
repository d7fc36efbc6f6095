import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Resolver } from '../../src/runtime/dns.ts';
import { encodingOf, readBody, readEncodedBody } from '../../src/upstream/response-body.ts';
import { PendingRequest, Transport } from '../../src/upstream/transport.ts';
import { toUpstreamError } from '../../src/upstream/transport-errors.ts';
import { answer, type Behaviour, gzipBomb, hang, startHostile } from '../support/hostile.ts';

/** How responses are read at the level of HTTP, and whose failure an error of the transport is. test/faults has what an upstream can do wrong. */

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

/** What is read of a body that is not plain JSON. A failure may be read from it, and never a success. */
const JSON_TEXT = '{"a":"}\\"{","b":{"c":[{}]}}';
const VALUE = { a: '}"{', b: { c: [{}] } };
const COMPRESSED = 'compressed body, though none was asked for';

describe('a text that is not JSON as a whole', () => {
  test.each([
    ['with more after it', `${JSON_TEXT}<script>{}</script>`],
    ['twice', JSON_TEXT + JSON_TEXT],
    ['as JSONP', `callback(${JSON_TEXT})`],
    ['after a text with a quote', `it's "5 o'clock ${JSON_TEXT}`],
  ])('%s keeps its first object apart', (_what, text) => {
    expect(readBody(Buffer.from(text))).toEqual({ json: undefined, lossyJson: VALUE });
  });

  test.each([
    ['that ends too early', JSON_TEXT.slice(0, -1)],
    ['that ends in a text', '{"a":"b'],
    ['that ends in an escape', '{"a":"\\'],
    ['of a page', '<style>p { color: red }</style>'],
    ['without an object', 'no'],
    ['without anything', ''],
  ])('%s gives nothing', (_what, text) => {
    expect(readBody(Buffer.from(text))).toEqual({ json: undefined });
  });

  test('is read in linear time, even if it has a quote in every second place', () => {
    const begun = performance.now();
    expect(readBody(Buffer.from(`{"${'\\"'.repeat(128 * 1024)}`))).toEqual({ json: undefined });
    // Quadratic time would be minutes.
    expect(performance.now() - begun).toBeLessThan(2_000);
  });

  test('loses the keys that could reach a prototype', () => {
    expect(readBody(Buffer.from('{"a":1,"__proto__":{"b":2}};'))).toEqual({ json: undefined, lossyJson: { a: 1 } });
  });
});

describe('a body with a content-encoding', () => {
  test.each([
    ['gzip', gzipSync(JSON_TEXT)],
    ['x-gzip', gzipSync(JSON_TEXT)],
    ['deflate', deflateSync(JSON_TEXT)],
    ['br', brotliCompressSync(JSON_TEXT)],
    ['gzip', Buffer.from(JSON_TEXT)],
    ['zstd,br', Buffer.from(JSON_TEXT)],
  ])('%s is read, and never as a success', (encoding, bytes) => {
    expect(readEncodedBody(bytes, encoding)).toEqual({ json: undefined, lossyJson: VALUE, flaw: COMPRESSED });
  });

  test.each([
    ['gzip', gzipSync(JSON_TEXT.padEnd(256 * 1024 + 1))],
    ['gzip', Buffer.from(gzipBomb(JSON_TEXT))],
    ['gzip', gzipSync(JSON_TEXT).subarray(0, -9)],
    ['deflate', deflateSync(JSON_TEXT.padEnd(256 * 1024 + 1))],
    ['br', brotliCompressSync(' '.repeat(100_000_000))],
    ['zstd', Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
    ['gzip', Buffer.alloc(0)],
  ])('%s beyond the size limit, or of another kind, gives nothing', (encoding, bytes) => {
    expect(readEncodedBody(bytes, encoding)).toBeUndefined();
  });

  test.each<[string | string[], string | undefined]>([
    ['GZip', 'gzip'],
    [' identity , gzip', 'gzip'],
    [['gzip', 'br'], 'gzip,br'],
    ['', undefined],
    ['identity,', undefined],
  ])('%j has the encoding %j', (header, encoding) => {
    expect(encodingOf(header)).toBe(encoding);
  });
});

const failure = (code: string, address?: string) => Object.assign(new Error(code), { code, address });

describe('what fails on this machine is no failure of the upstream', () => {
  test.each(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'ENETUNREACH', 'ENETDOWN', 'EPERM', 'EACCES'])(
    '%s',
    (code) => {
      expect(toUpstreamError(failure(code)).code).toBe('OVERLOADED');
      const attempts = [failure('ECONNREFUSED', '203.0.113.9'), failure(code, '203.0.113.10')];
      expect(toUpstreamError(new AggregateError(attempts)).code).toBe('OVERLOADED');
    },
  );

  test.each(['EADDRNOTAVAIL', 'ENETUNREACH'])('but without IPv6 an IPv6 address with %s says nothing', (code) => {
    const attempts = [failure(code, '2001:db8::9'), failure('ECONNREFUSED', '203.0.113.9')];
    expect(toUpstreamError(new AggregateError(attempts)).code).toBe('UPSTREAM_UNAVAILABLE');
    expect(toUpstreamError(new AggregateError([failure(code, '2001:db8::9')])).code).toBe('OVERLOADED');
  });
});

// The reasons of X509_verify_cert_error_string, as Node names them.
test.each<[string, readonly string[]]>([
  [
    'UPSTREAM_REJECTED',
    [
      'CERT_HAS_EXPIRED',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'HOSTNAME_MISMATCH',
      'PATH_LENGTH_EXCEEDED',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'UNSPECIFIED',
    ],
  ],
  ['UPSTREAM_UNAVAILABLE', ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ETIMEDOUT']],
])('a refused certificate is our configuration, and a refused connection is the upstream: %s', (code, reasons) => {
  expect(reasons.map((reason) => toUpstreamError(failure(reason)).code)).toEqual(reasons.map(() => code));
});
