import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { encodingOf, readBody, readEncodedBody } from '../../src/upstream/response-body.ts';
import { gzipBomb } from '../support/hostile.ts';

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
    const start = performance.now();
    expect(readBody(Buffer.from(`{"${'\\"'.repeat(128 * 1024)}`))).toEqual({ json: undefined });
    expect(performance.now() - start).toBeLessThan(500);
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
