import { gzipSync } from 'node:zlib';
import { captchaPass } from '../bench/upstream-answers.ts';

/** What a caller can make the captcha service, or a firewall in front of it, answer: the content of its request asks for it. */

const FAIL = JSON.stringify({ status: 'success', result: 'fail', reason: 'pass_token expire' });
const PAGE = '<!doctype html><title>Request blocked</title><p>Incident 4711</p>';

/** A whole answer as text in latin1. */
export function httpAnswer(status: string, body: string, headers: Readonly<Record<string, string>> = {}): string {
  const all = { 'content-type': 'application/json', 'content-length': String(body.length), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${status}\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

const json = (body: object, status = '200 OK') => httpAnswer(status, JSON.stringify(body));
const page = (status: string, headers = {}) => httpAnswer(status, PAGE, { 'content-type': 'text/html', ...headers });
const exception = (code: string) => json({ status: 'error', code, msg: 'provoked', desc: { type: 'provoked' } });
const passOf = (changed: object) =>
  json({
    status: 'success',
    result: 'success',
    reason: '',
    captcha_args: { used_type: 'slide', user_ip: '203.0.113.9' },
    ...changed,
  });

/** The answer that a firewall makes callers wait for without end. */
export const NO_ANSWER = '';
/** It resets the connection. */
export const RESET = 'reset';

/** What follows `ask-` in the captcha output, and what is answered. */
const ANSWERS: Readonly<Record<string, string>> = {
  forbidden: page('403 Forbidden'),
  page: page('200 OK'),
  redirect: page('302 Found', { location: 'https://firewall.example/blocked' }),
  limited: page('503 Service Temporarily Unavailable'),
  gateway: page('502 Bad Gateway'),
  silence: NO_ANSWER,
  reset: RESET,
  zipped: httpAnswer('200 OK', gzipSync(FAIL).toString('latin1'), { 'content-encoding': 'gzip' }),
  interim: `HTTP/1.1 100 Continue\r\n\r\n${httpAnswer('200 OK', FAIL)}`,
  cut: httpAnswer('200 OK', '{"status":"success","res'),
  reject: json({ status: 'success', result: 'reject', reason: '' }),
  expired: json({ status: 'success', result: 'expired', reason: '' }),
  zero: json({ status: 'success', result: 0, reason: '' }),
  failed: json({ status: 'fail', result: '', reason: '' }),
  incomplete: passOf({}),
  other: captchaPass('f'.repeat(32)),
  runtime: exception('-50000'),
  paused: exception('-50105'),
  undocumented: exception('-50309'),
  unknown: exception('-99999'),
  throttled: page('429 Too Many Requests', { 'retry-after': '1' }),
};

/** The words that ask for an answer, except the one that makes the service throttle the captcha id. */
export const ASKED_FOR = Object.keys(ANSWERS).filter((word) => word !== 'throttled');

/** The answer that the form of this request asks for; undefined if it asks for none. */
export function provokedAnswer(form: string): string | undefined {
  const word = /captcha_output=ask-([a-z]+)/.exec(form)?.[1];
  return word === undefined ? undefined : ANSWERS[word];
}

/** The captcha ids of the strict service. */
export const DEFAULT_ID = 'b'.repeat(32);
export const DELETED_ID = 'd'.repeat(32);
export const PAUSED_ID = 'e'.repeat(32);

/** What the strict service answers to everything for a captcha id that is out of order; undefined for another one. */
export function outOfOrder(request: string): string | undefined {
  if (request.includes(`captcha_id=${DELETED_ID} `)) return exception('-50104');
  return request.includes(`captcha_id=${PAUSED_ID} `) ? exception('-50105') : undefined;
}

/** The strict service passes a challenge once, and only with all that the widget of a person made of it. */
export class SolvedChallenges {
  readonly #used = new Set<string>();

  /** @param request head and body as they came */
  judge(request: string): string {
    const lot = /lot_number=([0-9a-f]{32})\b/.exec(request)?.[1];
    const isSolved = SOLVED.every((part) => request.includes(part));
    if (lot === undefined || !isSolved || this.#used.has(lot)) return httpAnswer('200 OK', FAIL);
    this.#used.add(lot);
    return captchaPass(lot);
  }
}

/** Of `WORKLOADS.captcha`. */
const SOLVED = [
  `captcha_output=${'captcha-output-'.repeat(12)}&`,
  `pass_token=${'pass-token-'.repeat(6)}&`,
  'gen_time=1772353800',
];
