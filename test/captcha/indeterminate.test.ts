import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FailOpenPolicy, indeterminate, judgeCaptcha, noVerdict, readVerdict } from '../../src/captcha/verdict.ts';
import { HEALTH_STATES } from '../../src/observability/metrics.ts';
import type { CaptchaIndeterminateCause } from '../../src/schema.generated.ts';
import type { HealthStatus } from '../../src/upstream/health.ts';
import { ARGS, PASS } from './support.ts';

/**
 * What becomes of a verification without a verdict: by its cause, the policy, and what our own probes show; and what holds
 * for every response. Section numbers are the captcha document's.
 */

const CAUSES: readonly CaptchaIndeterminateCause[] = ['CLIENT', 'CONFIGURATION', 'SERVICE', 'TRANSPORT'];
const POLICIES: readonly FailOpenPolicy[] = ['faults', 'always', 'never'];

/** The exception of the call, for each cause. */
const CODES = { CLIENT: '-50003', CONFIGURATION: '-50105', SERVICE: '-50000', TRANSPORT: null };
const without = (cause: CaptchaIndeterminateCause, isUnreadable = false) =>
  noVerdict(cause, { code: CODES[cause], isUnreadable });

const worked = (state: HealthStatus['state'], reason = ''): HealthStatus => ({ state, hasWorked: true, reason });
const neverWorked = (state: HealthStatus['state'], reason = ''): HealthStatus => ({ state, hasWorked: false, reason });

/** What is shown, and the causes that proceed by default: for the captcha id of requests that name none, and for any other. */
type Row = [what: string, HealthStatus, ofDefault: CaptchaIndeterminateCause[], ofOther: CaptchaIndeterminateCause[]];

describe.each<Row>([
  ['the service is well', worked('well'), [], []],
  ['nothing was found out in time', worked('unknown'), [], []],
  ['an outage is confirmed', worked('outage', 'HTTP status 503'), ['SERVICE', 'TRANSPORT'], ['SERVICE', 'TRANSPORT']],
  ['the service refuses the id with the same exception', worked('refused', '-50105'), ['CONFIGURATION'], []],
  ['the service refuses the id with another exception', worked('refused', '-50104'), [], []],
  ['the service refuses our signature', worked('refused', 'illegal sign_token'), [], []],
  ['the service answers with 403', worked('refused', 'HTTP status 403'), [], []],
  ['the id has never worked and no probe has shown anything', neverWorked('unknown'), [], []],
  ['the id has never worked and probes fail', neverWorked('outage', 'HTTP status 503'), [], []],
  ['the id has never worked and is refused', neverWorked('refused', '-50105'), [], []],
])('if %s', (_what, health, ofDefault, ofOther) => {
  test.each(CAUSES)('with the cause %s', (given) => {
    const cause = health.hasWorked || given === 'CLIENT' ? given : 'CONFIGURATION';
    for (const [isDefaultId, proceeding] of [[true, ofDefault] as const, [false, ofOther] as const]) {
      const isConfirmed = proceeding.includes(given);
      const proceeds = { faults: isConfirmed, always: true, never: false };
      for (const policy of POLICIES) {
        const failOpen = { policy, isDefaultId, health };
        const outcome = { __typename: 'CaptchaIndeterminate', cause, code: CODES[given] };
        expect(indeterminate(without(given), failOpen)).toMatchObject({
          ...outcome,
          proceed: proceeds[policy],
          isConfirmed,
        });
        const unreadable = { ...outcome, proceed: false, isConfirmed: false };
        expect(indeterminate(without(given, true), failOpen)).toMatchObject(unreadable);
      }
    }
  });
});

test.each(CAUSES)('the message for %s says what to do if the request does not proceed, and only then', (cause) => {
  const messageOf = (policy: FailOpenPolicy) => {
    const verdict = indeterminate(without(cause), { policy, isDefaultId: true, health: worked('well') });
    return 'message' in verdict ? verdict.message : '';
  };
  const advice =
    cause === 'CONFIGURATION'
      ? 'The operator of this subgraph has to check its configuration.'
      : 'Let the person solve a new challenge.';
  expect(messageOf('faults')).toBe(`${messageOf('always')} ${advice}`);
  expect(messageOf('never')).toBe(messageOf('faults'));
});

test('no verdict is better than the response', () => {
  const word = fc.oneof(
    fc.constantFrom('success', 'Success', 'fail', 'FAILED', 'reject', false, 'error', '', 'lot-1', '-50000', '-50003'),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const args = fc.record(
    { used_type: word, user_ip: word, lot_number: word, scene: word, referer: word },
    { requiredKeys: [] },
  );
  const changes = (fields: Record<string, fc.Arbitrary<unknown>>) =>
    fc.oneof(fc.constant({}), fc.record(fields, { requiredKeys: [] }));
  const answer = fc.oneof(
    fc.record(
      { status: word, result: word, reason: word, code: word, captcha_args: fc.oneof(args, word) },
      { requiredKeys: [] },
    ),
    // The documented pass, perhaps with other values, and with the code of an exception.
    fc
      .tuple(
        changes({ used_type: word, lot_number: word, scene: word, referer: word }),
        changes({ status: word, result: word, reason: word, code: word, captcha_args: args }),
      )
      .map(([otherArgs, other]) => ({ ...PASS, captcha_args: { ...ARGS, ...otherArgs }, ...other })),
    fc.jsonValue(),
  );
  const failOpen = fc.record({
    policy: fc.constantFrom<FailOpenPolicy>('faults', 'always', 'never'),
    isDefaultId: fc.boolean(),
  });
  const health = fc.record({
    state: fc.constantFrom(...HEALTH_STATES),
    hasWorked: fc.boolean(),
    reason: fc.constantFrom('', '-50000', '-50003', '-50105'),
  });
  let passed = 0;
  fc.assert(
    fc.property(
      answer,
      fc.constantFrom(200, 200, 200, 201, 302, 400, 500),
      failOpen,
      health,
      fc.boolean(),
      (body, status, failOpen, health, isUnreadable) => {
        const response = isUnreadable ? { status, json: undefined, unreadable: 'JSONP' } : { status, json: body };
        const read = readVerdict(response, 'lot-1');
        const verdict = read.__typename === 'NoVerdict' ? indeterminate(read, { ...failOpen, health }) : read;
        const { status: said, result } = Object(body);
        const hasPassed = verdict.__typename === 'CaptchaPassed';
        // A code is in no pass (2.2). That a pass with an unknown one passes is no harm, so it may go either way.
        if (Object(body).code === undefined)
          expect(hasPassed).toBe(!isUnreadable && status === 200 && isDocumentedPass(body));
        if (hasPassed) expect([isUnreadable, status, isDocumentedPass(body)]).toEqual([false, 200, true]);
        if (failOpen.policy === 'never') expect(verdict.proceed).toBe(hasPassed);
        if (failOpen.policy === 'faults') {
          const isJudged = said === 'success' || result === 'success';
          const isDown = health.hasWorked && ['outage', 'refused'].includes(health.state);
          if (isJudged || !isDown) expect(verdict.proceed).toBe(hasPassed);
        }
        // In a JSON list or text, and in JSON that is cut off or wrapped, there may be a rejection.
        const isStrange = status === 200 && (Array.isArray(body) || Object(body) !== body);
        if (isUnreadable || isStrange) expect(verdict).toMatchObject({ proceed: false, isConfirmed: false });
        else if (['fail', 'FAILED', false].includes(result) || (said === 'success' && result !== 'success')) {
          expect(verdict).toMatchObject({ __typename: 'CaptchaFailed', proceed: false });
        }
        // A judgement comes from the service, so no such answer to a probe confirms an outage.
        if (!isUnreadable && judgeCaptcha(response).kind === 'failed') expect([said, result]).not.toContain('success');
        passed += Number(hasPassed);
      },
    ),
    { numRuns: 4_000 },
  );
  expect(passed).toBeGreaterThan(30);
});

/** Is this the documented pass (2.2 to 2.4) for the lot number `lot-1`? Further fields may stand beside it. */
function isDocumentedPass(body: unknown): boolean {
  const { status, result, reason, captcha_args: args } = Object(body);
  const { used_type, user_ip, lot_number, scene, referer } = Object(args);
  const hasDetails = [used_type, user_ip, scene, referer].every((value) => typeof value === 'string');
  return status === 'success' && result === 'success' && reason === '' && lot_number === 'lot-1' && hasDetails;
}
