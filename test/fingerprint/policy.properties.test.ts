import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decide, type PolicyInput, type PolicySignal, policyFile } from '../../src/fingerprint/policy.ts';
import { SIGNAL_CATALOGUE } from '../../src/fingerprint/signal-catalogue.ts';

/**
 * What holds for every policy and every device. Random policies have few signals and events, so that their rules often overlap.
 */

const FEW = SIGNAL_CATALOGUE.filter(({ code }) =>
  ['EMULATOR', 'VPN_ENABLED', 'TOKEN_EXPIRED', 'WHITELIST_IP', 'BLACKLIST_IP', 'IP_MALICIOUS_ATTACK'].includes(code),
);
const codes = fc.uniqueArray(fc.constantFrom(...FEW.map(({ code }) => code)), { minLength: 1, maxLength: 4 });
const level = fc.constantFrom('LOW' as const, 'MEDIUM' as const, 'HIGH' as const);
const confidence = fc.constantFrom(0, 0.5, 0.6, 0.95, 1);
const clientType = fc.constantFrom('ANDROID' as const, 'IOS' as const, 'WEB_H5' as const, 'OTHER' as const);
const eventType = fc.constantFrom('login', 'checkout');
const action = fc.constantFrom('ALLOW', 'CHALLENGE', 'DENY');

/** With all keys, hardly any device would match. */
const seldom = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const condition = fc
  .record({
    anyOf: seldom(codes),
    noneOf: seldom(codes),
    effect: seldom(fc.constantFrom('RISK', 'DENY', 'ALLOW')),
    minLevel: seldom(level),
    minConfidence: seldom(confidence),
    atLeast: seldom(fc.integer({ min: 1, max: 4 })),
    eventType: seldom(fc.oneof(eventType, fc.uniqueArray(eventType, { minLength: 1 }))),
    clientType: seldom(fc.oneof(clientType, fc.uniqueArray(clientType, { minLength: 1 }))),
  })
  .filter((when) => Object.values(when).some((value) => value !== undefined));
type Condition = typeof condition extends fc.Arbitrary<infer When> ? When : never;

/** A policy as it stands in a file. */
const definition = fc.record({
  rules: fc
    // biome-ignore lint/suspicious/noThenProperty: the format of a policy has this key, and nobody awaits a rule.
    .array(fc.record({ when: condition, then: action, shadow: fc.boolean() }), {
      ...{ minLength: 1, maxLength: 8, size: 'max' },
    })
    .map((rules) => rules.map((rule, at) => ({ id: `r${at}`, ...rule }))),
  otherwise: action,
});

const documented: fc.Arbitrary<PolicySignal> = fc
  .constantFrom(...FEW, ...SIGNAL_CATALOGUE)
  .map((row) => ({ ...row, name: row.code }));
const unknown: fc.Arbitrary<PolicySignal> = fc.record({
  name: fc.constantFrom('NEW_1', 'NEW_2', 'NEW_3'),
  code: fc.constant(null),
  effect: fc.constant(null),
  level,
  confidence,
});

/** With another level or confidence than the document says. */
const drifted: fc.Arbitrary<PolicySignal> = fc
  .tuple(fc.constantFrom(...FEW), level, confidence)
  .map(([row, of, sure]) => ({ ...row, name: row.code, level: of, confidence: sure }));

/** Any signals, some of them twice. */
const input: fc.Arbitrary<PolicyInput> = fc.record({
  clientType,
  signals: fc.array(fc.oneof({ weight: 4, arbitrary: documented }, unknown, drifted), { maxLength: 8, size: 'max' }),
  eventType: fc.constantFrom(undefined, 'login', 'checkout', 'something else'),
});

const RUNS = { numRuns: 1_000 };

test('the first rule whose conditions hold decides, and each shadow rule before it is counted', () => {
  const seen = { shadows: 0, decided: 0 };
  fc.assert(
    fc.property(definition, input, (written, about) => {
      const policy = policyFile.parse(JSON.stringify(written));
      const counted: unknown[] = [];
      const decided = decide(policy, about, (shadow) => counted.push(shadow));
      const at = written.rules.findIndex(({ shadow, when }) => !shadow && holds(when, about));
      const first = written.rules[at];
      const made = { policy: policy.id };
      expect(decided).toEqual({
        ...made,
        action: first?.then ?? written.otherwise,
        rule: first?.id ?? 'otherwise',
      });
      const shadows = written.rules
        .slice(0, at === -1 ? undefined : at)
        .filter(({ shadow, when }) => shadow && holds(when, about));
      expect(counted).toEqual(shadows.map(({ id, then }) => ({ ...made, action: then, rule: id })));
      seen.shadows += shadows.length;
      seen.decided += Number(first !== undefined);
    }),
    RUNS,
  );
  expect(Math.min(seen.shadows, seen.decided)).toBeGreaterThan(100);
});

/** The table of schema/README.md, word for word. */
function holds(when: Condition, { clientType, signals, eventType }: PolicyInput): boolean {
  const levels = ['LOW', 'MEDIUM', 'HIGH'];
  const counting = signals.filter(
    ({ code, effect, level, confidence }) =>
      (!when.anyOf || when.anyOf.some((one) => one === code)) &&
      (!when.effect || when.effect === effect) &&
      (!when.minLevel || levels.indexOf(level) >= levels.indexOf(when.minLevel)) &&
      (when.minConfidence === undefined || confidence >= when.minConfidence),
  );
  const isAboutSignals = when.anyOf ?? when.effect ?? when.minLevel ?? when.minConfidence ?? when.atLeast ?? undefined;
  return (
    (isAboutSignals === undefined || new Set(counting.map(({ name }) => name)).size >= (when.atLeast ?? 1)) &&
    !signals.some(({ code }) => when.noneOf?.some((one) => one === code)) &&
    (when.eventType === undefined || [when.eventType].flat().some((one) => one === eventType)) &&
    (when.clientType === undefined || [when.clientType].flat().includes(clientType))
  );
}

test('the id is the same however the keys and the lists are ordered, and another one for another decision', () => {
  fc.assert(
    fc.property(definition, definition, input, (written, other, about) => {
      const one = policyFile.parse(JSON.stringify(written));
      expect(policyFile.parse(JSON.stringify(backwards(written), null, 2)).id).toBe(one.id);
      const two = policyFile.parse(JSON.stringify(other));
      if (one.id === two.id) expect(decide(two, about)).toEqual(decide(one, about));
    }),
    RUNS,
  );
});

/** The same policy with its keys, and the lists of conditions, from the last to the first. */
function backwards({ rules, otherwise }: { readonly rules: readonly { when: object }[]; readonly otherwise: string }) {
  const reversed = (object: object) => Object.fromEntries(Object.entries(object).reverse());
  const lists = (when: object) =>
    Object.fromEntries(
      Object.entries(when).map(([key, value]) => [key, Array.isArray(value) ? value.toReversed() : value]),
    );
  return { otherwise, rules: rules.map((rule) => reversed({ ...rule, when: reversed(lists(rule.when)) })) };
}
