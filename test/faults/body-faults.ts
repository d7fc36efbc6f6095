import { answer, bytes, type RawRequest } from '../support/hostile.ts';
import { nested, PAGE } from './documented.ts';
import { type Fault, noAnswer, REFUSAL, type Row } from './fault-table.ts';

const UNAVAILABLE = 'UPSTREAM_UNAVAILABLE';
const REJECTED = 'UPSTREAM_REJECTED';
const PROTOCOL = 'UPSTREAM_PROTOCOL_ERROR';
const HTML = { 'content-type': 'text/html' };
/** A little more than a day. */
const WAIT = { 'retry-after': '99999' };

/** Correct HTTP with a body that is not an answer (fingerprint document, section 4, rule 2: answers are JSON). */
const faults: readonly Fault[] = [
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

export const BODY_FAULTS: readonly Row[] = faults.map(noAnswer);
