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
  reset,
  thenClose,
  thenReset,
  trickle,
} from '../support/hostile.ts';
import { type Fault, noAnswer, REFUSAL, type Row } from './fault-table.ts';

const TIMEOUT = 'UPSTREAM_TIMEOUT';
const UNAVAILABLE = 'UPSTREAM_UNAVAILABLE';
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

/** Faults of the transport, or of HTTP itself. */
export const TRANSPORT_FAULTS: readonly Row[] = [...slow, ...broken, ...redirects, ...malformed].map(noAnswer);
