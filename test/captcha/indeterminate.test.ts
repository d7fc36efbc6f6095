import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PASS_DRIFTS, readResponse } from '../../src/captcha/contract.ts';
import { indeterminate, interpret, type NoVerdict, noResponse } from '../../src/captcha/verdict.ts';
import type { CaptchaIndeterminateCause } from '../../src/schema.generated.ts';
import { ARGS, EXCEPTION, PASS } from './support.ts';

/**
 * What becomes of a verification without a verdict: by its cause, the policy, and what our own probes show; and what holds
 * for every response. Section numbers are the captcha document's.
 */

const CAUSES: readonly CaptchaIndeterminateCause[] = ['CLIENT', 'CONFIGURATION', 'SERVICE', 'TRANSPORT'];
const POLICIES = ['faults', 'always', 'never'] as const;

/** The exception of the call, for each cause; without one the service gave no answer. */
const CODES = { CLIENT: '-50003', CONFIGURATION: '-50105', SERVICE: '-50000', TRANSPORT: null };

/** The result of this exception, before the policy decides. */
function withException(code: string): NoVerdict {
  const { result } = interpret(readResponse({ ...EXCEPTION, code }), 200);
  if (result.__typename !== 'NoVerdict') throw new Error('expected no verdict');
  return result;
}
const without = (cause: CaptchaIndeterminateCause) => {
  const code = CODES[cause];
  return code === null ? noResponse({ code: 'UPSTREAM_TIMEOUT', why: undefined }) : withException(code);
};

const NOT_DOWN = { hasWorked: true, isDown: false, takeAllowance: () => true };
const DOWN = { ...NOT_DOWN, isDown: true };

/** What is known, and the causes that proceed by default and get an attestation. */
type Row = [what: string, known: typeof DOWN, proceeding: CaptchaIndeterminateCause[]];

describe.each<Row>([
  ['no outage is confirmed', NOT_DOWN, []],
  ['an outage is confirmed', DOWN, ['CONFIGURATION', 'SERVICE', 'TRANSPORT']],
  ['the allowance of an outage has no room', { ...DOWN, takeAllowance: () => false }, []],
  ['the id has never worked', { ...NOT_DOWN, hasWorked: false }, []],
  ['the id has never worked and probes fail', { ...DOWN, hasWorked: false }, []],
])('while %s', (_what, known, allowed) => {
  test.each(CAUSES)('a captcha without a verdict with the cause %s proceeds as its policy says', (given) => {
    const cause = known.hasWorked || given === 'CLIENT' ? given : 'CONFIGURATION';
    const isAllowed = allowed.includes(given);
    const proceeds = { faults: isAllowed, always: true, never: false };
    for (const policy of POLICIES) {
      const outcome = { __typename: 'CaptchaIndeterminate', cause, code: CODES[given] };
      const expected = { ...outcome, proceed: proceeds[policy], isAllowed: isAllowed && policy !== 'never' };
      expect(indeterminate(without(given), { policy, ...known })).toMatchObject(expected);
    }
  });
});

test.each(['-50101', '-50102', '-50103', '-50104', '-50105'])(
  'the exception %s, which no client can cause, proceeds in an outage of its captcha id',
  (code) => {
    const given = withException(code);
    expect(indeterminate(given, { policy: 'faults', ...DOWN })).toMatchObject({ proceed: true, isAllowed: true });
  },
);

test.each([
  ['an illegal risk type, which a bot can choose', withException('-50001')],
  ['an undocumented code of the family of the captcha id', withException('-50106')],
  ['a certificate that nobody vouches for', noResponse({ code: 'UPSTREAM_REJECTED', why: undefined })],
])('a mistake of the configuration does not proceed in an outage: %s', (_what, given) => {
  expect(indeterminate(given, { policy: 'faults', ...DOWN })).toMatchObject({ proceed: false, isAllowed: false });
});

test.each(POLICIES)(
  'an answer of which a part of the body has arrived never proceeds, and its head alone only in an outage: %s',
  (policy) => {
    const body = noResponse({ code: 'UPSTREAM_UNAVAILABLE', why: 'unreadable' });
    const head = noResponse({ code: 'UPSTREAM_TIMEOUT', why: 'bodiless' });
    // TLS can fail in the middle of a body.
    const altered = noResponse({ code: 'UPSTREAM_REJECTED', why: 'unreadable' });
    for (const known of [DOWN, NOT_DOWN]) {
      expect(indeterminate(altered, { policy, ...known }).proceed).toBe(false);
      expect(indeterminate(body, { policy, ...known })).toMatchObject({
        cause: 'TRANSPORT',
        proceed: false,
        message: expect.stringContaining('again in a minute'),
      });
    }
    expect(indeterminate(head, { policy, ...NOT_DOWN }).proceed).toBe(false);
    expect(indeterminate(head, { policy, ...DOWN }).proceed).toBe(policy !== 'never');
  },
);

test.each(CAUSES)('the operator is asked to act only for the cause CONFIGURATION: %s', (cause) => {
  const { message } = Object(indeterminate(without(cause), { policy: 'never', ...NOT_DOWN }));
  expect(message.includes('operator')).toBe(cause === 'CONFIGURATION');
});

test('no verdict is better than the response', () => {
  const word = fc.oneof(
    fc.constantFrom('success', 'Success', 'fail', 'FAILED', 'reject', false, 'error', '', 'lot-1', '-50000', '-50003'),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const details = Object.fromEntries(Object.keys(ARGS).map((name) => [name, word]));
  const args = fc.record(details, { requiredKeys: [] });
  const changes = (fields: Record<string, fc.Arbitrary<unknown>>) =>
    fc.oneof(fc.constant({}), fc.record(fields, { requiredKeys: [] }));
  const answer = fc.oneof(
    fc.record(
      { status: word, result: word, reason: word, code: word, captcha_args: fc.oneof(args, word) },
      { requiredKeys: [] },
    ),
    // The documented pass, perhaps with other values, and with the code of an exception.
    fc
      .tuple(changes(details), changes({ status: word, result: word, reason: word, code: word, captcha_args: args }))
      .map(([otherArgs, other]) => ({ ...PASS, captcha_args: { ...ARGS, ...otherArgs }, ...other })),
    fc.jsonValue(),
  );
  const failOpen = fc.record({
    policy: fc.constantFrom(...POLICIES),
    isDown: fc.boolean(),
    hasWorked: fc.boolean(),
    hasRoom: fc.boolean(),
  });
  let passed = 0;
  fc.assert(
    fc.property(
      answer,
      fc.constantFrom(200, 200, 200, 201, 302, 400, 500),
      failOpen,
      fc.boolean(),
      (body, status, { hasRoom, ...failOpen }, isNoJson) => {
        const isUnreadable = isNoJson && status === 200;
        const answer = readResponse(isUnreadable ? undefined : body, 'lot-1');
        // Each is a label of a metric.
        expect(PASS_DRIFTS).toEqual(expect.arrayContaining([...answer.drifts]));
        const { result, evidence } = interpret(answer, status, 'lot-1');
        const verdict =
          result.__typename === 'NoVerdict'
            ? indeterminate(result, { ...failOpen, takeAllowance: () => hasRoom })
            : result;
        const { status: said, result: word } = Object(body);
        const hasPassed = verdict.__typename === 'CaptchaPassed';
        // A code is in no pass (2.2). That a pass with an unknown one passes is no harm, so it may go either way.
        if (Object(body).code === undefined) expect(hasPassed).toBe(!isUnreadable && status === 200 && isPass(body));
        if (hasPassed) expect([isUnreadable, status, isPass(body)]).toEqual([false, 200, true]);
        if (failOpen.policy === 'never') expect(verdict.proceed).toBe(hasPassed);
        if (failOpen.policy === 'faults') {
          const isJudged = status < 500 && (said === 'success' || word === 'success');
          if (isJudged || !failOpen.isDown || !failOpen.hasWorked || !hasRoom) expect(verdict.proceed).toBe(hasPassed);
        }
        // In a JSON list or text, and in JSON that is cut off or wrapped, there may be a rejection.
        const isStrange = status === 200 && (Array.isArray(body) || Object(body) !== body);
        if (isUnreadable || isStrange) expect(verdict).toMatchObject({ proceed: false, isAllowed: false });
        else if (['fail', 'FAILED', false].includes(word) || (said === 'success' && word !== 'success')) {
          expect(verdict).toMatchObject({ __typename: 'CaptchaFailed', proceed: false });
        }
        // A judgement comes from the service, so no such answer to a probe confirms an outage.
        if (!isUnreadable && evidence === 'failed' && status < 500) expect([said, word]).not.toContain('success');
        // Only an exception that a client can cause makes a 5xx one of the client.
        if (status >= 500 && 'cause' in verdict && verdict.cause === 'CLIENT') expect(verdict.code).not.toBeNull();
        passed += Number(hasPassed);
      },
    ),
    { numRuns: 4_000 },
  );
  expect(passed).toBeGreaterThan(30);
});

/** Is this a pass (2.2 to 2.4) for the lot number `lot-1`? Any other field decides nothing. */
function isPass(body: unknown): boolean {
  const { status, result, captcha_args: args } = Object(body);
  return status === 'success' && result === 'success' && Object(args).lot_number === 'lot-1';
}
