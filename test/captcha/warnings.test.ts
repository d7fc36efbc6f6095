import { afterAll, expect, test } from 'vitest';
import { gainOf } from '../observability/exposition.ts';
import { EXCEPTION, FAIL, INPUT, PASS, passWith, startWithAllPolicies } from './support.ts';

/** What is logged about a response of the captcha service. Section numbers are the captcha document's. */

const { apps, answerWith, validate, stop } = await startWithAllPolicies();
afterAll(stop);
let asked = 0;
/** What is logged about one request. Meanwhile there can be a line about what was left out of earlier ones. */
const loggedBy = async (body: unknown, status?: number) => {
  asked += 1;
  const id = `logged-${asked}`;
  answerWith(body, status);
  const verdict = await validate(INPUT, 'faults', { 'x-request-id': id });
  const lines = apps.faults.logged().split('\n');
  return { verdict, logged: lines.filter((line) => line.includes(`"requestId":"${id}"`)).join('\n') };
};

test.each<[string, unknown, string, number?]>([
  ['which field of a pass is wrong', passWith('lot_number'), 'captcha_args.lot_number: invalid_type'],
  ['a failure of which the document knows nothing', { ...PASS, result: 'personal' }, 'result: invalid_value'],
  ['an answer for another lot number', passWith('lot_number', 'personal'), 'answered for another lot number'],
  ['an undocumented code', { ...EXCEPTION, code: '-50398', msg: 'personal' }, '"cause":"CLIENT","code":"-50398"'],
  // It may be a wrong address as well, and then the operator has to act.
  ['a bare 403', '<html>personal</html>', '"status":403,"cause":"CLIENT"', 403],
])('a warning names %s, without its values', async (_what, body, expected, status) => {
  const { logged } = await loggedBy(body, status);
  expect(logged).toContain(expected);
  expect(logged).not.toContain('personal');
});

test.each([
  ['runtime error', '-50000'],
  ["the service's database is away", '-59999'],
])('a warning has what the service says in plain words beside an exception: %s', async (msg, code) => {
  const { logged } = await loggedBy({ ...EXCEPTION, code, msg });
  expect(logged).toContain(`"internal":"exception ${code}: ${msg}"`);
});

test('a field of passes that is not as documented is named in one warning, and counted each time', async () => {
  const { sum } = await gainOf(apps.faults, async () => {
    for (const scene of [7, { a: 'personal' }]) {
      const { verdict } = await loggedBy(passWith('scene', scene));
      expect(verdict).toMatchObject({ __typename: 'CaptchaPassed', proceed: true });
    }
  });
  expect(sum('device_trust_captcha_drift_total', { kind: 'scene' })).toBe(2);
  const lines = apps.faults
    .logged()
    .split('\n')
    .filter((line) => line.includes('"cause":"scene"'));
  expect(lines).toHaveLength(1);
  expect(lines.join()).not.toContain('personal');
});

test('a failure as documented and a documented exception that a client can cause write no warning', async () => {
  for (const body of [FAIL, { ...EXCEPTION, code: '-50308' }])
    expect((await loggedBy(body)).logged).toMatch(/^\{"level":"info".*"msg":"operation"\}$/);
});

test('the message of a captcha does not repeat that of the service', async () => {
  const { verdict } = await loggedBy({ ...EXCEPTION, msg: '<b>internal host 10.1.2.3</b>' });
  expect(verdict).toMatchObject({ __typename: 'CaptchaIndeterminate', proceed: false, code: '-50003' });
  expect(verdict.message).not.toContain('10.1.2.3');
});
