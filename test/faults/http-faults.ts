import { gzipSync } from 'node:zlib';
import {
  answer,
  bytes,
  closeConnection,
  flood,
  gzipBomb,
  HUNDRED_MB,
  hang,
  head,
  type RawRequest,
  reset,
  thenClose,
  thenReset,
  trickle,
} from '../support/hostile.ts';
import { nested, PAGE } from './documented.ts';
import { type Fault, noAnswer, REFUSAL, type Row } from './fault-table.ts';

/** Faults of the connection, of HTTP, and bodies that are no answer: rows for both services. */

const TIMEOUT = 'UPSTREAM_TIMEOUT';
const UNAVAILABLE = 'UPSTREAM_UNAVAILABLE';
const REJECTED = 'UPSTREAM_REJECTED';
const PROTOCOL = 'UPSTREAM_PROTOCOL_ERROR';

/** Longer than anything that is sent under it. */
const ENDLESS = { 'content-length': String(HUNDRED_MB) };
const CHUNKED = { 'transfer-encoding': 'chunked' };
const GZIP = { 'content-encoding': 'gzip' };
const blanks = ' '.repeat(64 * 1024);

/** Design, section 2: one deadline for headers and body. No row may end much earlier or later than it. */
const slow: readonly Fault[] = [
  { fault: 'takes the request and hangs', code: TIMEOUT, behave: () => hang },
  { fault: 'trickles a body for ever', code: TIMEOUT, behave: ({ good }) => trickle(head(200, ENDLESS) + good, ' ') },
  {
    fault: 'trickles chunks for ever',
    code: TIMEOUT,
    behave: ({ good }) => trickle(`${head(200, CHUNKED)}${good.length.toString(16)}\r\n${good}\r\n`, '1\r\n \r\n'),
  },
  { fault: 'trickles a header for ever', code: TIMEOUT, behave: () => trickle('HTTP/1.1 200 OK\r\nx-slow: ', 'a') },
  {
    fault: 'says 103 Early Hints for ever',
    code: TIMEOUT,
    behave: () => trickle('', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
  },
  { fault: 'sends headers and no body', code: TIMEOUT, behave: () => bytes(head(200, ENDLESS)) },
  {
    fault: 'sends all but the last byte',
    code: TIMEOUT,
    behave: ({ good }) => answer(200, good.slice(0, -1), { 'content-length': String(good.length) }),
  },
];

/** Design, section 1: reset or refused is UNAVAILABLE; section 2: once a byte was sent, nothing is tried again. */
const broken: readonly Fault[] = [
  { fault: 'resets after the request', code: UNAVAILABLE, behave: () => reset },
  { fault: 'closes the connection after the request', code: UNAVAILABLE, behave: () => closeConnection },
  { fault: 'resets at once', code: UNAVAILABLE, behave: () => hang, greet: (socket) => socket.resetAndDestroy() },
  { fault: 'closes the connection at once', code: UNAVAILABLE, behave: () => hang, greet: (socket) => socket.end() },
  {
    fault: 'closes the connection amid the headers',
    code: UNAVAILABLE,
    behave: () => thenClose(bytes('HTTP/1.1 200 OK\r\ncontent-')),
  },
  {
    fault: 'closes the connection amid the body',
    code: UNAVAILABLE,
    behave: ({ good }) => thenClose(answer(200, good, { 'content-length': String(good.length + 1) })),
  },
  {
    fault: 'resets amid the body',
    code: UNAVAILABLE,
    behave: ({ good }) => thenReset(answer(200, good, { 'content-length': String(good.length + 1) })),
  },
  {
    fault: 'closes the connection before the last chunk',
    code: UNAVAILABLE,
    behave: ({ good }) => thenClose(bytes(`${head(200, CHUNKED)}${good.length.toString(16)}\r\n${good}\r\n`)),
  },
];

/**
 * Design, section 2: no redirects; the credentials are for one address only. Each carries the good answer, and with another
 * status than 200 a pass is none that proceeds (section 7.5).
 */
const redirects: readonly Fault[] = [
  ...[301, 302, 303, 307, 308].map(
    (status): Fault => ({
      fault: `redirects with ${status}`,
      code: PROTOCOL,
      behave: ({ good, elsewhere }) => answer(status, good, { location: elsewhere }),
      captcha: REFUSAL,
    }),
  ),
  {
    // The address at which a cloud gives a machine its credentials. An app that followed it would wait, or get another answer.
    fault: 'redirects to the metadata service',
    code: PROTOCOL,
    behave: ({ good }) => answer(307, good, { location: 'http://169.254.169.254/latest/meta-data/' }),
    captcha: REFUSAL,
  },
];

/**
 * Design, section 2: no compressed bodies, at most 256 KiB of body, and what is no HTTP is no answer. A good answer of the
 * captcha service that can be read in spite of that is a pass that does not proceed (section 7.5).
 */
const malformed: readonly Fault[] = [
  { fault: '100 MB, announced', code: PROTOCOL, behave: ({ good }) => flood(head(200, ENDLESS) + good, blanks) },
  {
    fault: '100 MB in chunks',
    code: PROTOCOL,
    behave: ({ good }) =>
      flood(
        `${head(200, CHUNKED)}${good.length.toString(16)}\r\n${good}\r\n`,
        `${blanks.length.toString(16)}\r\n${blanks}\r\n`,
      ),
  },
  {
    fault: '100 MB of headers',
    code: PROTOCOL,
    behave: () => flood('HTTP/1.1 200 OK\r\n', 'x-more: of the same\r\n'.repeat(1_000)),
  },
  {
    fault: 'one byte over 256 KiB',
    code: PROTOCOL,
    behave: ({ good }) => answer(200, good.padEnd(256 * 1024 + 1)),
  },
  { fault: 'a gzip bomb', code: PROTOCOL, behave: ({ good }) => answer(200, gzipBomb(good), GZIP) },
  {
    fault: 'plain JSON that claims to be gzip',
    code: PROTOCOL,
    behave: ({ good }) => answer(200, good, GZIP),
    captcha: REFUSAL,
  },
  {
    fault: 'JSON in gzip',
    code: PROTOCOL,
    behave: ({ good }) => answer(200, gzipSync(good), GZIP),
    captcha: REFUSAL,
  },
  {
    fault: 'JSON in gzip that becomes longer than 256 KiB',
    code: PROTOCOL,
    behave: ({ good }) => answer(200, gzipSync(good.padEnd(256 * 1024 + 1)), GZIP),
  },
  {
    fault: 'an unknown compression',
    code: PROTOCOL,
    behave: ({ good }) => answer(200, good, { 'content-encoding': 'zstd, br' }),
    captcha: REFUSAL,
  },
  { fault: 'no HTTP', code: PROTOCOL, behave: () => bytes('SSH-2.0-OpenSSH\r\n') },
  {
    fault: 'both a length and chunks',
    code: PROTOCOL,
    behave: ({ good }) => answer(200, good, CHUNKED),
  },
  {
    fault: 'a chunk without a size',
    code: PROTOCOL,
    behave: ({ good }) => bytes(`${head(200, CHUNKED)}many\r\n${good}\r\n`),
  },
  {
    fault: 'a length that is too short',
    code: PROTOCOL,
    behave: ({ good }) => answer(200, good, { 'content-length': '9' }),
  },
];

const HTML = { 'content-type': 'text/html' };
/** A little more than a day. */
const WAIT = { 'retry-after': '99999' };

/** Correct HTTP with a body that is not an answer (fingerprint document, section 4, rule 2: answers are JSON). */
const bodies: readonly Fault[] = [
  ...[500, 502, 503, 504].map(
    (status): Fault => ({
      fault: `${status} with HTML`,
      code: UNAVAILABLE,
      behave: () => answer(status, PAGE, HTML),
    }),
  ),
  { fault: '503 without a body', code: UNAVAILABLE, behave: () => answer(503, '') },
  { fault: '503 that asks to wait', code: UNAVAILABLE, behave: () => answer(503, PAGE, WAIT) },
  // No document has 429. It can only mean that a later request may succeed, so it is retryable. The pause that follows has tests of its own.
  { fault: '429 that asks to wait', code: UNAVAILABLE, behave: () => answer(429, PAGE, WAIT), captcha: REFUSAL },
  { fault: '429 without a body', code: UNAVAILABLE, behave: () => answer(429, ''), captcha: REFUSAL },
  ...[401, 403, 404].flatMap((status): Fault[] => [
    { fault: `${status} with HTML`, code: REJECTED, behave: () => answer(status, PAGE, HTML), captcha: REFUSAL },
    { fault: `${status} without a body`, code: REJECTED, behave: () => answer(status, ''), captcha: REFUSAL },
  ]),
  ...[400, 402, 418].map(
    (status): Fault => ({
      fault: `${status} with HTML`,
      code: PROTOCOL,
      behave: () => answer(status, PAGE, HTML),
      captcha: REFUSAL,
    }),
  ),
  { fault: '400 without a body', code: PROTOCOL, behave: () => answer(400, ''), captcha: REFUSAL },
  { fault: '201 with HTML', code: PROTOCOL, behave: () => answer(201, PAGE, HTML) },
  { fault: '204', code: PROTOCOL, behave: () => bytes('HTTP/1.1 204 No Content\r\n\r\n') },
  { fault: '200 with HTML', code: PROTOCOL, behave: () => answer(200, PAGE, HTML) },
  { fault: '200 without a body', code: PROTOCOL, behave: () => answer(200, '') },
  { fault: '200 with half a body', code: PROTOCOL, behave: ({ good }) => answer(200, good.slice(0, good.length / 2)) },
  // What the captcha service says can be read here, but it is not exactly the pass, so it does not proceed.
  {
    fault: '200 with more than a body',
    code: PROTOCOL,
    behave: ({ good }) => answer(200, good + good),
    captcha: REFUSAL,
  },
  {
    fault: '200 with JSONP',
    code: PROTOCOL,
    behave: ({ good }) => answer(200, `callback(${good})`),
    captcha: REFUSAL,
  },
  ...['null', 'true', '[]', '{}', '"success"'].map(
    (body): Fault => ({
      fault: `200 with ${body}`,
      code: PROTOCOL,
      behave: () => answer(200, body),
    }),
  ),
  {
    fault: '200 in invalid UTF-8',
    code: PROTOCOL,
    // A byte that UTF-8 does not have, in the last text. Nothing else is wrong with the body.
    behave: ({ good }) => answer(200, Buffer.from(good.replace(/(?="}+$)/, '\u00ff'), 'latin1')),
    captcha: REFUSAL,
  },
  // 200 KB, so its size is not the reason why it is refused.
  { fault: '200 with 100,000 levels', code: PROTOCOL, behave: () => answer(200, nested(100_000)) },
  { fault: '200 in UTF-16', code: PROTOCOL, behave: ({ good }) => answer(200, Buffer.from(good, 'utf16le')) },
  {
    fault: '200 with the whole request repeated',
    code: PROTOCOL,
    behave: () => (exchange: RawRequest) => answer(200, exchange.request)(exchange),
  },
  {
    fault: '500 with the whole request repeated',
    code: UNAVAILABLE,
    behave: () => (exchange) =>
      answer(500, JSON.stringify({ code: 500, message: exchange.request, data: {} }))(exchange),
  },
];

export const HTTP_FAULTS: readonly Row[] = [...slow, ...broken, ...redirects, ...malformed, ...bodies].map(noAnswer);
