import type { Socket } from 'node:net';
import {
  answer,
  type Behaviour,
  bytes,
  flood,
  gzipBomb,
  HUNDRED_MB,
  hang,
  hangUp,
  head,
  reset,
  thenHangUp,
  thenReset,
  trickle,
} from '../support/hostile.ts';
import type { UpstreamCode } from './expectations.ts';

/** What a behaviour may weave into its lie. */
interface Material {
  /** The documented good answer of the upstream in question: whoever falls for the lie reports it. */
  readonly good: string;
  /** Address of a bystander, which must never be called. */
  readonly elsewhere: string;
}

/** A misbehaviour that leaves no usable answer. Captcha must call it TRANSPORT, whatever the code for fingerprint is. */
export interface TransportRow {
  readonly name: string;
  readonly code: UpstreamCode;
  readonly behave: (material: Material) => Behaviour;
  /** What happens to a connection before anything was read from it. */
  readonly greet?: (socket: Socket) => void;
}

const TIMEOUT = 'UPSTREAM_TIMEOUT';
const UNAVAILABLE = 'UPSTREAM_UNAVAILABLE';
const PROTOCOL = 'UPSTREAM_PROTOCOL_ERROR';

/** Longer than anything that is sent under it. */
const ENDLESS = { 'content-length': String(HUNDRED_MB) };
const CHUNKED = { 'transfer-encoding': 'chunked' };
const GZIP = { 'content-encoding': 'gzip' };
const blanks = ' '.repeat(64 * 1024);

/** Design, section 2: one deadline for headers and body. No row may end much earlier or later than it. */
const slow: readonly TransportRow[] = [
  { name: 'takes the request and hangs', code: TIMEOUT, behave: () => hang },
  { name: 'trickles a body for ever', code: TIMEOUT, behave: ({ good }) => trickle(head(200, ENDLESS) + good, ' ') },
  {
    name: 'trickles chunks for ever',
    code: TIMEOUT,
    behave: ({ good }) => trickle(`${head(200, CHUNKED)}${good.length.toString(16)}\r\n${good}\r\n`, '1\r\n \r\n'),
  },
  { name: 'trickles a header for ever', code: TIMEOUT, behave: () => trickle('HTTP/1.1 200 OK\r\nx-slow: ', 'a') },
  {
    name: 'says 103 Early Hints for ever',
    code: TIMEOUT,
    behave: () => trickle('', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'),
  },
  { name: 'sends headers and no body', code: TIMEOUT, behave: () => bytes(head(200, ENDLESS)) },
  {
    name: 'sends all but the last byte',
    code: TIMEOUT,
    behave: ({ good }) => answer(200, good.slice(0, -1), { 'content-length': String(good.length) }),
  },
];

/** Design, section 1: reset or refused is UNAVAILABLE; section 2: once a byte was sent, nothing is tried again. */
const broken: readonly TransportRow[] = [
  { name: 'resets after the request', code: UNAVAILABLE, behave: () => reset },
  { name: 'hangs up after the request', code: UNAVAILABLE, behave: () => hangUp },
  { name: 'resets at once', code: UNAVAILABLE, behave: () => hang, greet: (socket) => socket.resetAndDestroy() },
  { name: 'hangs up at once', code: UNAVAILABLE, behave: () => hang, greet: (socket) => socket.end() },
  {
    name: 'hangs up amid the headers',
    code: UNAVAILABLE,
    behave: () => thenHangUp(bytes('HTTP/1.1 200 OK\r\ncontent-')),
  },
  {
    name: 'hangs up amid the body',
    code: UNAVAILABLE,
    behave: ({ good }) => thenHangUp(answer(200, good, { 'content-length': String(good.length + 1) })),
  },
  {
    name: 'resets amid the body',
    code: UNAVAILABLE,
    behave: ({ good }) => thenReset(answer(200, good, { 'content-length': String(good.length + 1) })),
  },
  {
    name: 'hangs up before the last chunk',
    code: UNAVAILABLE,
    behave: ({ good }) => thenHangUp(bytes(`${head(200, CHUNKED)}${good.length.toString(16)}\r\n${good}\r\n`)),
  },
];

/** Design, section 2: no redirects; the credentials are for one address only. */
const redirects: readonly TransportRow[] = [301, 302, 303, 307, 308].map((status) => ({
  name: `redirects with ${status}`,
  code: PROTOCOL,
  behave: ({ good, elsewhere }) => answer(status, good, { location: elsewhere }),
}));

/** Design, section 2: no compressed bodies, at most 256 KiB of body, and what is no HTTP is no answer. */
const malformed: readonly TransportRow[] = [
  { name: '100 MB, announced', code: PROTOCOL, behave: ({ good }) => flood(head(200, ENDLESS) + good, blanks) },
  {
    name: '100 MB in chunks',
    code: PROTOCOL,
    behave: ({ good }) =>
      flood(
        `${head(200, CHUNKED)}${good.length.toString(16)}\r\n${good}\r\n`,
        `${blanks.length.toString(16)}\r\n${blanks}\r\n`,
      ),
  },
  { name: '100 MB of headers', code: PROTOCOL, behave: () => flood('HTTP/1.1 200 OK\r\n', 'x-more: of the same\r\n') },
  {
    name: 'one byte over 256 KiB',
    code: PROTOCOL,
    behave: ({ good }) => answer(200, good.padEnd(256 * 1024 + 1)),
  },
  { name: 'a gzip bomb', code: PROTOCOL, behave: ({ good }) => answer(200, gzipBomb(good), GZIP) },
  { name: 'plain JSON that claims to be gzip', code: PROTOCOL, behave: ({ good }) => answer(200, good, GZIP) },
  {
    name: 'an unknown compression',
    code: PROTOCOL,
    behave: ({ good }) => answer(200, good, { 'content-encoding': 'zstd, br' }),
  },
  { name: 'no HTTP', code: PROTOCOL, behave: () => bytes('SSH-2.0-OpenSSH\r\n') },
  {
    name: 'both a length and chunks',
    code: PROTOCOL,
    behave: ({ good }) => answer(200, good, CHUNKED),
  },
  {
    name: 'a chunk without a size',
    code: PROTOCOL,
    behave: ({ good }) => bytes(`${head(200, CHUNKED)}many\r\n${good}\r\n`),
  },
  {
    name: 'a length that is too short',
    code: PROTOCOL,
    behave: ({ good }) => answer(200, good, { 'content-length': '9' }),
  },
];

/** Where the transport fails, or HTTP itself. */
export const TRANSPORT_ROWS: readonly TransportRow[] = [...slow, ...broken, ...redirects, ...malformed];
