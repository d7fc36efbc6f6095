import { gzipSync } from 'node:zlib';
import {
  answer,
  bytes,
  closeConnection,
  flood,
  HUNDRED_MB,
  hang,
  head,
  reset,
  thenClose,
  thenReset,
  trickle,
} from '../support/hostile.ts';
import { KEPT_OPEN, nested, PAGE } from './documented.ts';
import { type Material, noAnswer, REFUSAL, type Row, type UpstreamCode } from './fault-table.ts';

/** Faults of the connection, of HTTP, and bodies that are no answer: rows for both services. */

type Behave = Parameters<typeof noAnswer>[0]['behave'];
type Fault = readonly [fault: string, behave: Behave, captcha?: object];
const rows = (code: UpstreamCode, faults: readonly Fault[], isCutOff = false): Row[] =>
  faults.map(([fault, behave, captcha]) => noAnswer({ fault, code, behave, isCutOff, ...(captcha && { captcha }) }));
/** The same for answers of which the rest is not read, whether there is one or not. */
const cutOff = (code: UpstreamCode, faults: readonly Fault[]) => rows(code, faults, true);

const [TIMEOUT, UNAVAILABLE] = ['UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE'] as const;
const [REJECTED, PROTOCOL] = ['UPSTREAM_REJECTED', 'UPSTREAM_PROTOCOL_ERROR'] as const;

/** Longer than anything that is sent under it. */
const ENDLESS = { ...KEPT_OPEN, 'content-length': String(HUNDRED_MB) };
const CHUNKED = { ...KEPT_OPEN, 'transfer-encoding': 'chunked' };
const GZIP = { 'content-encoding': 'gzip' };
const HTML = { 'content-type': 'text/html' };
/** A little more than a day. */
const WAIT = { 'retry-after': '99999' };
const blanks = ' '.repeat(64 * 1024);
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
const tooShort = ({ good }: Material) => answer(200, good, { 'content-length': String(good.length + 1) });

export const HTTP_FAULTS: readonly Row[] = [
  // One deadline is for headers and body together. No row may end much earlier or later than it.
  ...cutOff(TIMEOUT, [
    ['takes the request and hangs', () => hang],
    ['trickles a body for ever', ({ good }) => trickle(head(200, ENDLESS) + good, ' ')],
    ['trickles chunks for ever', ({ good }) => trickle(head(200, CHUNKED) + chunk(good), chunk(' '))],
    ['trickles a header for ever', () => trickle('HTTP/1.1 200 OK\r\nx-slow: ', 'a')],
    ['says 103 Early Hints for ever', () => trickle('', 'HTTP/1.1 103 Early Hints\r\n\r\n')],
    ['sends headers and no body', () => bytes(head(200, ENDLESS))],
    [
      'sends all but the last byte',
      ({ good }) => answer(200, good.slice(0, -1), { 'content-length': String(good.length) }),
    ],
  ]),

  // A connection that is reset or refused is UNAVAILABLE, and once a byte was sent, nothing is tried again.
  noAnswer({
    fault: 'resets at once',
    code: UNAVAILABLE,
    behave: () => hang,
    greet: (socket) => socket.resetAndDestroy(),
  }),
  noAnswer({
    fault: 'closes the connection at once',
    code: UNAVAILABLE,
    behave: () => hang,
    greet: (socket) => socket.end(),
  }),
  ...rows(UNAVAILABLE, [
    ['resets after the request', () => reset],
    ['closes the connection after the request', () => closeConnection],
    ['closes the connection amid the headers', () => thenClose(bytes('HTTP/1.1 200 OK\r\ncontent-'))],
    ['closes the connection amid the body', (material) => thenClose(tooShort(material))],
    ['resets amid the body', (material) => thenReset(tooShort(material))],
    ['closes the connection before the last chunk', ({ good }) => thenClose(bytes(head(200, CHUNKED) + chunk(good)))],
  ]),

  // No redirect is followed: the credentials are for one address only. Each carries the good answer, and with another status
  // than 200 a pass is none that proceeds.
  ...rows(PROTOCOL, [
    ...[301, 302, 303, 307, 308].map(
      (status): Fault => [
        `redirects with ${status}`,
        ({ good, elsewhere }) => answer(status, good, { location: elsewhere }),
        REFUSAL,
      ],
    ),
    [
      // The address at which a cloud gives a machine its credentials. An app that followed it would wait, or get another answer.
      'redirects to the metadata service',
      ({ good }) => answer(307, good, { location: 'http://169.254.169.254/latest/meta-data/' }),
      REFUSAL,
    ],
  ]),

  // A body has at most 256 KiB, and what is no HTTP is no answer.
  ...cutOff(PROTOCOL, [
    ['100 MB, announced', ({ good }) => flood(head(200, ENDLESS) + good, blanks)],
    ['100 MB in chunks', ({ good }) => flood(head(200, CHUNKED) + chunk(good), chunk(blanks))],
    ['100 MB of headers', () => flood('HTTP/1.1 200 OK\r\n', 'x-more: of the same\r\n'.repeat(1_000))],
    ['100 MB of a reason phrase', () => flood('HTTP/1.1 200 ', blanks.replaceAll(' ', 'x'))],
    ['100 MB of one header', () => flood('HTTP/1.1 200 OK\r\nx-more: ', blanks.replaceAll(' ', 'x'))],
    ['100 MB of 103 Early Hints', () => flood('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1_000))],
    ['100 MB of an extension of a chunk', () => flood(`${head(200, CHUNKED)}1;x=`, blanks.replaceAll(' ', 'x'))],
    ['one byte over 256 KiB', ({ good }) => answer(200, good.padEnd(256 * 1024 + 1), KEPT_OPEN)],
    ['no HTTP', () => bytes('SSH-2.0-OpenSSH\r\n')],
    ['both a length and chunks', ({ good }) => answer(200, good, CHUNKED)],
    ['a chunk without a size', ({ good }) => bytes(`${head(200, CHUNKED)}many\r\n${good}\r\n`)],
    ['a length that is too short', ({ good }) => answer(200, good, { ...KEPT_OPEN, 'content-length': '9' })],
  ]),

  // No body is compressed, because nobody asked for that. It is not read.
  ...rows(PROTOCOL, [
    ['plain JSON that claims to be gzip', ({ good }) => answer(200, good, GZIP)],
    ['JSON in gzip', ({ good }) => answer(200, gzipSync(good), GZIP)],
    ['an unknown compression', ({ good }) => answer(200, good, { 'content-encoding': 'zstd, br' })],
  ]),

  // Correct HTTP with a body that is not an answer (fingerprint document, section 4, rule 2: answers are JSON).
  ...rows(UNAVAILABLE, [
    ...[500, 502, 503, 504].map((status): Fault => [`${status} with HTML`, () => answer(status, PAGE, HTML)]),
    ['520 with HTML that holds an object', () => answer(520, `<script>e = {"ray":"1"}</script>${PAGE}`, HTML)],
    ['503 with the JSON of a gateway', () => answer(503, '{"message":"Service Unavailable"}')],
    ['503 with half a body', () => thenClose(answer(503, PAGE, { ...HTML, 'content-length': '9999' }))],
    ['503 without a body', () => answer(503, '')],
    ['503 with half of an object', () => answer(503, '{"status":"success","res')],
    ['503 with JSONP', ({ good }) => answer(503, `callback(${good})`)],
    ['503 with a page in gzip', () => answer(503, gzipSync(PAGE), GZIP)],
    ['503 with more than is read', () => answer(503, PAGE.padEnd(300_000))],
    ['503 that asks to wait', () => answer(503, PAGE, WAIT)],
    // No document has 429. It can only mean that a later request may succeed, so it is retryable. The pause that follows has tests of its own.
    ['429 that asks to wait', () => answer(429, PAGE, WAIT), REFUSAL],
    ['429 without a body', () => answer(429, ''), REFUSAL],
    [
      '500 with the whole request repeated',
      () => (exchange) => answer(500, JSON.stringify({ code: 500, message: exchange.request, data: {} }))(exchange),
    ],
  ]),
  ...rows(
    REJECTED,
    [401, 403, 404].flatMap((status): Fault[] => [
      [`${status} with HTML`, () => answer(status, PAGE, HTML), REFUSAL],
      [`${status} without a body`, () => answer(status, ''), REFUSAL],
      [
        `${status} with half a body`,
        () => thenClose(answer(status, PAGE, { ...HTML, 'content-length': '9999' })),
        REFUSAL,
      ],
    ]),
  ),
  ...rows(PROTOCOL, [
    ...[400, 402, 418].map((status): Fault => [`${status} with HTML`, () => answer(status, PAGE, HTML), REFUSAL]),
    ['400 without a body', () => answer(400, ''), REFUSAL],
    ['302 with HTML', () => answer(302, PAGE, HTML)],
    ['302 with half a body', () => thenClose(answer(302, PAGE, { ...HTML, 'content-length': '9999' }))],
    ['200 with more before a body', ({ good }) => answer(200, `)]}',\n${good}`)],
    ['200 with a body in an object', ({ good }) => answer(200, `{"data":${good}}`)],
    ['201 with HTML', () => answer(201, PAGE, HTML)],
    ['204', () => bytes('HTTP/1.1 204 No Content\r\n\r\n')],
    ['200 with HTML', () => answer(200, PAGE, HTML)],
    ['200 without a body', () => answer(200, '')],
    ['200 with half a body', ({ good }) => answer(200, good.slice(0, good.length / 2))],
    ['200 with more than a body', ({ good }) => answer(200, good + good)],
    ['200 with JSONP', ({ good }) => answer(200, `callback(${good})`)],
    ...['null', 'true', '[]', '{}', '"success"'].map((body): Fault => [`200 with ${body}`, () => answer(200, body)]),
    [
      // A byte that UTF-8 does not have, in the last text. Nothing else is wrong with the body.
      '200 in invalid UTF-8',
      ({ good }) => answer(200, Buffer.from(good.replace(/(?="}+$)/, '\u00ff'), 'latin1')),
    ],
    // 200 KB, so its size is not the reason why it is refused.
    ['200 with 100,000 levels', () => answer(200, nested(100_000))],
    ['200 in UTF-16', ({ good }) => answer(200, Buffer.from(good, 'utf16le'))],
    ['200 with the whole request repeated', () => (exchange) => answer(200, exchange.request)(exchange)],
  ]),
];
