import { describe, expect, test } from 'vitest';
import { type ResponseKind, readResponse } from '../../src/captcha/contract.ts';
import { interpret, TABLE } from '../../src/captcha/verdict.ts';
import { ARGS, EXCEPTION, FAIL, PASS } from './support.ts';

/** The meaning of every kind of response with every class of HTTP status. Section numbers are the captcha document's. */

const exception = (code: string) => ({ ...EXCEPTION, code });
/** A response of each kind. */
const RESPONSES: Readonly<Record<ResponseKind, unknown>> = {
  pass: PASS,
  'other lot number': { ...PASS, captcha_args: { ...ARGS, lot_number: 'lot-2' } },
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
  'nothing documented': undefined,
};
const STATUSES = {
  '200': [200],
  '4xx': [400, 401, 403, 404, 429, 499],
  '5xx': [500, 503, 599],
  other: [201, 204, 302],
};

const CELLS = Object.entries(RESPONSES).flatMap(([kind, body]) =>
  Object.entries(STATUSES).flatMap(([statusClass, statuses]) =>
    statuses.map((status) => ({ kind, body, statusClass, status })),
  ),
);

test('the table has a row for every kind of response, and a cell for every class of status', () => {
  expect(Object.keys(TABLE).sort()).toEqual(Object.keys(RESPONSES).sort());
  for (const row of Object.values(TABLE)) expect(Object.keys(row).sort()).toEqual(Object.keys(STATUSES).sort());
});

describe.each(CELLS)('$kind with HTTP status $status', ({ kind, body, statusClass, status }) => {
  const response = readResponse(body, 'lot-1');
  const { result, evidence, outcome } = interpret(response, status, 'lot-1');
  const [inOutage, byPolicy] =
    'inOutage' in result ? [result.inOutage, result.byPolicy] : [result.proceed, result.proceed];

  test('is read as what it is', () => expect(response.kind).toBe(kind));

  test('passes only as documented (2.4)', () => {
    expect(result.__typename === 'CaptchaPassed').toBe(kind === 'pass' && status === 200);
    expect(outcome === 'ok').toBe(kind === 'pass' && status === 200);
  });

  test('never lets a rejection proceed, nor a 200 that may be one', () => {
    if (/rejection|signature|lot number/.test(kind))
      expect(result).toMatchObject({ __typename: 'CaptchaFailed', proceed: false });
    if (kind === 'nothing documented' && status === 200) expect([inOutage, byPolicy]).toEqual([false, false]);
  });

  test('proceeds in an outage only if no client can provoke it', () => {
    // Only the exceptions about the captcha id, those of the service, and a 5xx without a verdict.
    const isFault =
      /^(unknown|withdrawn) captcha id$/.test(kind) || (kind === 'exception of the service' && statusClass !== '4xx');
    const isDown = /^(nothing documented|pass|flawed pass)$/.test(kind) && statusClass === '5xx';
    const isStrange = kind === 'nothing documented' && statusClass === 'other';
    if (result.__typename === 'NoVerdict') expect(inOutage).toBe(isFault || isDown || isStrange);
  });

  test('blames an account only for what the document says about it (7.1, 7.2)', () => {
    const blames = ['refused', 'unknown_account', 'withdrawn'].includes(evidence);
    expect(blames).toBe(/signature|captcha id$/.test(kind));
  });

  test('shows an outage only as a failure of the service or of its edge', () => {
    const isFailure = kind === 'nothing documented' && ['5xx', 'other'].includes(statusClass);
    expect(evidence === 'failed').toBe(isFailure || kind === 'exception of the service');
  });

  test('ends an outage only with a verdict', () => {
    expect(evidence === 'well').toBe(kind === 'rejection' || (kind === 'pass' && status === 200));
  });
});
