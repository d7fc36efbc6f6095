import { answer, bytes, type Exchange } from '../support/hostile.ts';
import { PAGE } from './documented.ts';
import type { TransportRow } from './transport-rows.ts';

const UNAVAILABLE = 'UPSTREAM_UNAVAILABLE';
const PROTOCOL = 'UPSTREAM_PROTOCOL_ERROR';
const HTML = { 'content-type': 'text/html' };

/** Proper HTTP around something that is no answer (fingerprint document, section 4, rule 2: answers are JSON). */
export const WORDLESS_ROWS: readonly TransportRow[] = [
  ...[500, 502, 503, 504].map(
    (status): TransportRow => ({
      name: `${status} with HTML`,
      code: UNAVAILABLE,
      behave: () => answer(status, PAGE, HTML),
    }),
  ),
  { name: '503 without a body', code: UNAVAILABLE, behave: () => answer(503, '') },
  // No document knows 429; it can only mean "not now", which is what retryable says.
  { name: '429 with HTML', code: UNAVAILABLE, behave: () => answer(429, PAGE, HTML) },
  ...[401, 403, 404].flatMap((status): TransportRow[] => [
    { name: `${status} with HTML`, code: 'UPSTREAM_REJECTED', behave: () => answer(status, PAGE, HTML) },
    { name: `${status} without a body`, code: 'UPSTREAM_REJECTED', behave: () => answer(status, '') },
  ]),
  ...[201, 400, 402, 418].map(
    (status): TransportRow => ({
      name: `${status} with HTML`,
      code: PROTOCOL,
      behave: () => answer(status, PAGE, HTML),
    }),
  ),
  { name: '204', code: PROTOCOL, behave: () => bytes('HTTP/1.1 204 No Content\r\n\r\n') },
  { name: '200 with HTML', code: PROTOCOL, behave: () => answer(200, PAGE, HTML) },
  { name: '200 without a body', code: PROTOCOL, behave: () => answer(200, '') },
  { name: '200 with half a body', code: PROTOCOL, behave: ({ good }) => answer(200, good.slice(0, good.length / 2)) },
  { name: '200 with more than a body', code: PROTOCOL, behave: ({ good }) => answer(200, good + good) },
  { name: '200 with JSONP', code: PROTOCOL, behave: ({ good }) => answer(200, `callback(${good})`) },
  ...['null', 'true', '[]', '{}', '"success"'].map(
    (body): TransportRow => ({
      name: `200 with ${body}`,
      code: PROTOCOL,
      behave: () => answer(200, body),
    }),
  ),
  {
    name: '200 in invalid UTF-8',
    code: PROTOCOL,
    // A byte that UTF-8 does not have, in the last text: whoever reads on regardless finds nothing else wrong.
    behave: ({ good }) => answer(200, Buffer.from(good.replace(/(?="}+$)/, '\u00ff'), 'latin1')),
  },
  { name: '200 in UTF-16', code: PROTOCOL, behave: ({ good }) => answer(200, Buffer.from(good, 'utf16le')) },
  {
    name: '200 with the whole request repeated',
    code: PROTOCOL,
    behave: () => (exchange: Exchange) => answer(200, exchange.request)(exchange),
  },
  {
    name: '500 with the whole request repeated',
    code: UNAVAILABLE,
    behave: () => (exchange) =>
      answer(500, JSON.stringify({ code: 500, message: exchange.request, data: {} }))(exchange),
  },
];
