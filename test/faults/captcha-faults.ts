import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { answer, type Behaviour } from '../support/hostile.ts';
import { altered, DEEP_OBJECTS, exception, FAIL, PASS } from './documented.ts';
import { answers, NO_ANSWER, REFUSAL, type Row } from './fault-table.ts';

/** An answer of the captcha service that is JSON, and what must become of it: at least this data. */
interface JsonFault {
  readonly fault: string;
  readonly behave: Behaviour;
  readonly expected: object;
}

const COMPRESS = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync };
const ok = (body: string) => answer(200, body);
const NO = { __typename: 'CaptchaFailed', proceed: false, category: 'PASS_TOKEN_EXPIRED' };
const REPLAYED = { __typename: 'CaptchaIndeterminate', cause: 'CLIENT', code: '-50003', proceed: false };
const replayed = exception('-50003', 'illegal verify');

const UNKNOWN_NO = { ...NO, category: 'OTHER' };

/**
 * Design, section 2: what passes, who can cause which exception, and the policy `faults`. Section 7.5: after
 * `status: "success"` only the pass, entire, lets a request proceed.
 */
const faults: readonly JsonFault[] = [
  ...[401, 403, 404, 429, 500, 502, 302].flatMap((status): JsonFault[] => [
    {
      fault: `a pass with ${status}`,
      behave: answer(status, JSON.stringify(PASS)),
      expected: REFUSAL,
    },
    { fault: `a "fail" with ${status}`, behave: answer(status, JSON.stringify(FAIL)), expected: NO },
    { fault: `a replay with ${status}`, behave: answer(status, replayed), expected: REPLAYED },
  ]),
  {
    fault: '500 as documented',
    behave: answer(500, exception('-50000', 'runtime error')),
    expected: { cause: 'SERVICE', code: '-50000', proceed: false },
  },
  // What the browser of a bot reports, such as the referer, ends up in the details.
  ...['status', 'captcha_args', 'captcha_args.lot_number', 'captcha_args.user_ip', 'captcha_args.referer'].map(
    (path): JsonFault => ({
      fault: `a pass without ${path}`,
      behave: ok(altered(PASS, path)),
      expected: REFUSAL,
    }),
  ),
  { fault: 'a pass without result', behave: ok(altered(PASS, 'result')), expected: UNKNOWN_NO },
  ...['reject', 'expired', 0, null, true, {}].map(
    (result): JsonFault => ({
      fault: `the result ${JSON.stringify(result)}`,
      behave: ok(altered(PASS, 'result', result)),
      expected: UNKNOWN_NO,
    }),
  ),
  { fault: 'the status "fail"', behave: ok(altered(PASS, 'status', 'fail')), expected: UNKNOWN_NO },
  ...['-50006', '-50309'].map(
    (code): JsonFault => ({
      fault: `the undocumented ${code}`,
      behave: ok(exception(code, 'new error')),
      expected: { ...REPLAYED, code },
    }),
  ),
  {
    fault: 'a pass for another lot number',
    behave: ok(altered(PASS, 'captcha_args.lot_number', 'lot-two')),
    expected: { proceed: false },
  },
  ...[999, ['lot-two']].map(
    (other): JsonFault => ({
      fault: `a pass for ${JSON.stringify(other)}, which is no lot number at all`,
      behave: ok(altered(PASS, 'captcha_args.lot_number', other)),
      expected: { __typename: 'CaptchaFailed', proceed: false, category: 'LOT_NUMBER_MISMATCH' },
    }),
  ),
  {
    fault: 'a pass that is only in __proto__',
    behave: ok(`{"__proto__":${JSON.stringify(PASS)}}`),
    expected: NO_ANSWER,
  },
  { fault: 'a "fail" without details', behave: ok(altered(FAIL, 'captcha_args')), expected: NO },
  {
    fault: 'a "fail" in invalid UTF-8',
    behave: answer(200, Buffer.from(altered(FAIL, 'captcha_args.used_type', 'slide\u00ff'), 'latin1')),
    expected: NO,
  },
  {
    fault: 'a "fail" under an encoding without a name',
    behave: answer(200, JSON.stringify(FAIL), { 'content-encoding': '' }),
    expected: NO,
  },
  ...(['gzip', 'deflate', 'br'] as const).map(
    (encoding): JsonFault => ({
      fault: `a "fail" in ${encoding}, which nobody asked for`,
      behave: answer(200, COMPRESS[encoding](JSON.stringify(FAIL)), { 'content-encoding': encoding }),
      expected: NO,
    }),
  ),
  {
    fault: 'a pass in gzip, which nobody asked for',
    behave: answer(200, gzipSync(JSON.stringify(PASS)), { 'content-encoding': 'gzip' }),
    expected: REFUSAL,
  },
  {
    // The client cannot read what follows. A bot could cause this only if it could make the service send it.
    fault: 'a "fail" after a 100 Continue, which nobody asked for',
    behave: (exchange) => {
      exchange.socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      ok(JSON.stringify(FAIL))(exchange);
    },
    expected: NO_ANSWER,
  },
  {
    fault: 'a "fail" to which a proxy has added',
    behave: ok(`${JSON.stringify(FAIL)}<script></script>`),
    expected: NO,
  },
  {
    fault: 'a "fail" beside 20,000 levels',
    behave: ok(JSON.stringify(FAIL).replace('{', `{"new":${DEEP_OBJECTS},`)),
    expected: NO,
  },
  // This is not a fault: a byte order mark may be ignored (RFC 8259, 8.1).
  {
    fault: 'a byte order mark',
    behave: ok(`\ufeff${JSON.stringify(PASS)}`),
    expected: { __typename: 'CaptchaPassed' },
  },
];

export const CAPTCHA_FAULTS: readonly Row[] = faults.map(({ fault, behave, expected }) =>
  answers(fault, behave, { captcha: expected }),
);
