import { expect, test } from 'vitest';
import { type ResponseKind, readResponse } from '../../src/captcha/contract.ts';
import { interpret, TABLE } from '../../src/captcha/verdict.ts';
import { EXCEPTION, FAIL, PASS, passWith } from './support.ts';

/** The meaning of every kind of response with every class of HTTP status. Section numbers are the captcha document's. */

const exception = (code: string) => ({ ...EXCEPTION, code });
/** A response of each kind. */
const RESPONSES: Readonly<Record<ResponseKind, unknown>> = {
  pass: PASS,
  'other lot number': passWith('lot_number', 'lot-2'),
  'flawed pass': { ...PASS, code: '-50000' },
  rejection: FAIL,
  'illegal signature': { ...FAIL, reason: 'illegal sign_token' },
  'undocumented rejection': { ...FAIL, status: 'fail' },
  'unknown captcha id': exception('-50103'),
  'withdrawn captcha id': exception('-50105'),
  'exception of the captcha id': exception('-50106'),
  'exception of the risk type': exception('-50001'),
  'exception of the client': exception('-50003'),
  'exception of the service': exception('-50000'),
  'unknown exception': exception('-59999'),
  'nothing documented': undefined,
};
const STATUSES = {
  '200': [200],
  '4xx': [400, 401, 403, 404, 429, 499],
  '5xx': [500, 503, 599],
  other: [201, 204, 302],
};

test('the table has a row for every kind of response, and a cell for every class of status', () => {
  expect(Object.keys(TABLE).sort()).toEqual(Object.keys(RESPONSES).sort());
  for (const row of Object.values(TABLE)) expect(Object.keys(row).sort()).toEqual(Object.keys(STATUSES).sort());
});

const CELLS = Object.entries(STATUSES).flatMap(([statusClass, statuses]) =>
  statuses.map((status) => ({ status, statusClass })),
);

test.each(Object.entries(RESPONSES))('%s means with each HTTP status what the document lets it mean', (kind, body) => {
  const response = readResponse(body, 'lot-1');
  expect(response.kind).toBe(kind);
  for (const { status, statusClass } of CELLS) {
    const { result, evidence, outcome } = interpret(response, status, 'lot-1');
    const is = (kinds: RegExp, ...classes: string[]) => kinds.test(kind) && classes.includes(statusClass);
    const any = Object.keys(STATUSES);
    const [isPass, isOk] = [result.__typename === 'CaptchaPassed', outcome === 'ok'];
    // 2.4: a pass is a 200 in one form.
    expect([isPass, isOk]).toEqual([is(/^pass$/, '200'), is(/^pass$/, '200')]);
    // 2.4: a rejection in any form is no pass.
    expect(result.__typename === 'CaptchaFailed').toBe(is(/rejection|signature|lot number/, ...any));
    if (result.__typename === 'NoVerdict') {
      // 7.3, but for a 200 whose body may hold a rejection.
      expect(result.byPolicy).toBe(!is(/^nothing/, '200', 'other'));
      // Only what no client can provoke: 7.2 about the captcha id, and failures of the service or of its edge.
      const isFault =
        is(/^(unknown|withdrawn) captcha id/, ...any) || is(/of the service|unknown ex/, '200', '5xx', 'other');
      expect(result.inOutage).toBe(isFault || is(/^nothing/, '5xx') || is(/pass$/, '5xx'));
    }
    // 7.1 and 7.2 name the signature and the captcha id.
    const blames = ['refused', 'unknown_account', 'withdrawn'].includes(evidence);
    expect(blames).toBe(is(/signature|(unknown|withdrawn) captcha id$/, ...any));
    // A firewall may give any answer but a 5xx and the documented exception.
    const isFailed = is(/of the service/, '200', '5xx', 'other') || is(/^nothing|^unknown ex/, '5xx');
    expect(evidence === 'failed').toBe(isFailed);
    // An edge can reject what is old, but only the service knows what was solved.
    expect(evidence === 'well').toBe(is(/^pass$/, '200'));
  }
});
