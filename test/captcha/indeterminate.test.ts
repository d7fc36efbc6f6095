import { describe, expect, test } from 'vitest';
import { type FailOpenPolicy, indeterminate, noVerdict } from '../../src/captcha/verdict.ts';
import type { CaptchaIndeterminateCause } from '../../src/schema.generated.ts';
import type { Finding } from '../../src/upstream/finding.ts';

/** What becomes of a verification without a verdict: by its cause, the policy, and what our own probes show. */

const CAUSES: readonly CaptchaIndeterminateCause[] = ['CLIENT', 'CONFIGURATION', 'SERVICE', 'TRANSPORT'];
const POLICIES: readonly FailOpenPolicy[] = ['faults', 'always', 'never'];

/** The exception of the call, for each cause. */
const CODES: Readonly<Record<CaptchaIndeterminateCause, string | null>> = {
  CLIENT: '-50003',
  CONFIGURATION: '-50105',
  SERVICE: '-50000',
  TRANSPORT: null,
};

interface Row {
  readonly what: string;
  readonly finding: Finding;
  /** The causes that proceed by default, for the captcha id that is used when none is named and for any other one. */
  readonly default: readonly CaptchaIndeterminateCause[];
  readonly other: readonly CaptchaIndeterminateCause[];
}

const worked = (state: Finding['state'], reason = ''): Finding => ({ state, hasWorked: true, reason });
const neverWorked = (state: Finding['state'], reason = ''): Finding => ({ state, hasWorked: false, reason });
const NONE = { default: [], other: [] };
const FAULTS: readonly CaptchaIndeterminateCause[] = ['SERVICE', 'TRANSPORT'];

const ROWS: readonly Row[] = [
  { what: 'the service is well', finding: worked('well'), ...NONE },
  { what: 'nothing was found out in time', finding: worked('unknown'), ...NONE },
  { what: 'an outage is confirmed', finding: worked('outage', 'HTTP status 503'), default: FAULTS, other: FAULTS },
  {
    what: 'the service refuses the id with the same exception',
    finding: worked('refused', '-50105'),
    default: ['CONFIGURATION'],
    other: [],
  },
  { what: 'the service refuses the id with another exception', finding: worked('refused', '-50104'), ...NONE },
  { what: 'the service refuses our signature', finding: worked('refused', 'illegal sign_token'), ...NONE },
  { what: 'the service answers with 403', finding: worked('refused', 'HTTP status 403'), ...NONE },
];

describe.each(ROWS)('if $what', ({ finding, default: ofDefault, other }) => {
  test.each(CAUSES)('with the cause %s', (cause) => {
    for (const [isDefaultId, proceeding] of [[true, ofDefault] as const, [false, other] as const]) {
      const isConfirmed = proceeding.includes(cause);
      const proceeds = { faults: isConfirmed, always: true, never: false };
      for (const policy of POLICIES) {
        expect(indeterminate(noVerdict(cause, CODES[cause]), { policy, isDefaultId }, finding)).toMatchObject({
          __typename: 'CaptchaIndeterminate',
          cause,
          code: CODES[cause],
          proceed: proceeds[policy],
          isConfirmed,
        });
      }
    }
  });
});

describe.each([
  ['no probe has shown anything', neverWorked('unknown')],
  ['probes fail', neverWorked('outage', 'HTTP status 503')],
  ['the service refuses the id', neverWorked('refused', '-50105')],
] as const)('if the captcha id has never worked and %s', (_what, finding) => {
  test.each(CAUSES)('the cause %s proceeds for no id, and is CONFIGURATION unless the client is the cause', (cause) => {
    for (const isDefaultId of [true, false]) {
      const proceeds = { faults: false, always: true, never: false };
      for (const policy of POLICIES) {
        expect(indeterminate(noVerdict(cause, CODES[cause]), { policy, isDefaultId }, finding)).toMatchObject({
          cause: cause === 'CLIENT' ? 'CLIENT' : 'CONFIGURATION',
          proceed: proceeds[policy],
          isConfirmed: false,
        });
      }
    }
  });
});

test.each(CAUSES)('the message for %s says what to do if the request does not proceed, and only then', (cause) => {
  const messageOf = (policy: FailOpenPolicy) => {
    const verdict = indeterminate(noVerdict(cause), { policy, isDefaultId: true }, worked('well'));
    return 'message' in verdict ? verdict.message : '';
  };
  const advice =
    cause === 'CONFIGURATION'
      ? 'The operator of this subgraph has to check its configuration.'
      : 'Let the person solve a new challenge.';
  expect(messageOf('faults')).toBe(`${messageOf('always')} ${advice}`);
  expect(messageOf('never')).toBe(messageOf('faults'));
});
