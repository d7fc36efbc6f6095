import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type Condition,
  decide,
  matches,
  outcomesOf,
  type PolicyDefinition,
  type PolicyDevice,
  type PolicyQuestion,
  type RiskPolicy,
  type Rule,
} from '../../src/fingerprint/policy.ts';
import { compilePolicy } from '../../src/fingerprint/policy-compiler.ts';
import { parsePolicy } from '../../src/fingerprint/policy-file.ts';
import type { PolicySignal } from '../../src/fingerprint/signal-set.ts';
import { SIGNAL_CATALOGUE } from '../../src/fingerprint/signals.ts';
import { unreachableRules } from '../../src/policy/unreachable.ts';

/**
 * What holds for every policy and every device. Random policies have few signals and events, so that their rules often overlap.
 */

const FEW = SIGNAL_CATALOGUE.filter(({ code }) =>
  ['EMULATOR', 'VPN_ENABLED', 'TOKEN_EXPIRED', 'WHITELIST_IP', 'BLACKLIST_IP', 'IP_MALICIOUS_ATTACK'].includes(code),
);
const codes = fc.uniqueArray(fc.constantFrom(...FEW.map(({ code }) => code)), { minLength: 1, maxLength: 4 });
const level = fc.constantFrom('LOW' as const, 'MEDIUM' as const, 'HIGH' as const);
const confidence = fc.constantFrom(0, 0.5, 0.6, 0.95, 1);
const clientType = fc.constantFrom('ANDROID' as const, 'IOS' as const, 'WEB_H5' as const);
const eventType = fc.constantFrom('login', 'checkout');
const action = fc.constantFrom('ALLOW' as const, 'CHALLENGE' as const, 'DENY' as const);

/** With all keys, hardly any device would match. */
const seldom = <Value>(arbitrary: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });

const condition: fc.Arbitrary<Condition> = fc
  .record({
    anyOf: seldom(codes),
    noneOf: seldom(codes),
    effect: seldom(fc.constantFrom('RISK' as const, 'DENY' as const, 'ALLOW' as const)),
    minLevel: seldom(level),
    minConfidence: seldom(confidence),
    atLeast: seldom(fc.integer({ min: 1, max: 4 })),
    eventType: seldom(fc.oneof(eventType, fc.uniqueArray(eventType, { minLength: 1 }))),
    clientType: seldom(fc.oneof(clientType, fc.uniqueArray(clientType, { minLength: 1 }))),
  })
  .filter((when) => Object.values(when).some((value) => value !== undefined));

const definition: fc.Arbitrary<PolicyDefinition> = fc.record({
  rules: fc
    .array(fc.tuple(condition, action, fc.boolean()), { minLength: 1, maxLength: 8, size: 'max' })
    .map((rows) => rows.map(([when, decided, shadow], at) => toRule(`r${at}`, when, decided, shadow))),
  otherwise: action,
});

function toRule(id: string, when: Condition, decided: 'ALLOW' | 'CHALLENGE' | 'DENY', shadow: boolean) {
  // biome-ignore lint/suspicious/noThenProperty: the format of a policy has this key, and nobody awaits a rule.
  return { id, when, then: decided, shadow };
}

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

const deviceWith = (signal: fc.Arbitrary<PolicySignal>): fc.Arbitrary<PolicyDevice> =>
  fc.record({ clientType, signals: fc.array(signal, { maxLength: 8, size: 'max' }) });

/** Signals as the document describes them and newer ones, some of them twice. */
const documentedDevice = deviceWith(fc.oneof({ weight: 4, arbitrary: documented }, unknown));

/** Any signals. */
const device = deviceWith(fc.oneof({ weight: 4, arbitrary: documented }, unknown, drifted));

const question: fc.Arbitrary<PolicyQuestion> = fc.record({
  eventType: fc.constantFrom(undefined, 'login', 'checkout', 'something else'),
});

/** The policy of these rules in another order or selection, with the rules as they were. */
function withRules(policy: RiskPolicy, rules: readonly Rule[]): RiskPolicy {
  return { ...policy, rules };
}

const policy: fc.Arbitrary<RiskPolicy> = definition.map(compilePolicy);

const RUNS = { numRuns: 600 };

test('two neighbours that do not match together can change places: order matters only where rules overlap', () => {
  let overlaps = 0;
  fc.assert(
    fc.property(policy, fc.nat(), device, question, (of, seed, about, asked) => {
      const at = seed % of.rules.length;
      const [first, second] = [of.rules[at], of.rules[at + 1]];
      if (!first || !second) return;
      const swapped = withRules(of, [...of.rules.slice(0, at), second, first, ...of.rules.slice(at + 2)]);
      const isOverlap = matches(first, about, asked) && matches(second, about, asked);
      overlaps += Number(isOverlap);
      if (!isOverlap) expect(decide(swapped, about, asked)).toBe(decide(of, about, asked));
    }),
    RUNS,
  );
  expect(overlaps).toBeGreaterThan(5);
});

test('a policy decides the same without its shadow rules', () => {
  fc.assert(
    fc.property(policy, device, question, (of, about, asked) => {
      const deciding = withRules(
        of,
        of.rules.filter(({ isShadow }) => !isShadow),
      );
      expect(decide(of, about, asked)).toBe(decide(deciding, about, asked));
    }),
    RUNS,
  );
});

test('a shadow rule is counted exactly if it matches and no rule before it decides', () => {
  fc.assert(
    fc.property(policy, device, question, (of, about, asked) => {
      const counted: unknown[] = [];
      decide(of, about, asked, (shadow) => counted.push(shadow));
      const decisive = of.rules.findIndex((rule) => !rule.isShadow && matches(rule, about, asked));
      const reached = decisive === -1 ? of.rules : of.rules.slice(0, decisive);
      expect(counted).toEqual(
        reached.filter((rule) => rule.isShadow && matches(rule, about, asked)).map(({ decision }) => decision),
      );
    }),
    RUNS,
  );
});

test('every device gets a decision, by the first rule whose conditions hold, and always the same one', () => {
  fc.assert(
    fc.property(definition, device, question, (written, about, asked) => {
      const of = compilePolicy(written);
      const decided = decide(of, about, asked);
      const first = written.rules.find(({ shadow, when }) => !shadow && holds(when, about, asked));
      expect(decided).toEqual({
        action: first?.then ?? written.otherwise,
        rule: first?.id ?? 'otherwise',
        policy: of.id,
      });
      expect(decide(compilePolicy(written), about, asked)).toEqual(decided);
      expect(outcomesOf(of)).toContainEqual({ action: decided.action, rule: decided.rule, shadow: 'false' });
    }),
    RUNS,
  );
});

/** The table of schema/README.md, word for word. */
function holds(when: Condition, { clientType, signals }: PolicyDevice, { eventType }: PolicyQuestion): boolean {
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

test('the order of signals, and a signal that comes twice, change nothing', () => {
  fc.assert(
    fc.property(policy, device, question, fc.nat(), (of, about, asked, seed) => {
      // Whoever sends a name twice with different levels sends two signals, of which the order could matter.
      const once = about.signals.filter(({ name }, at, all) => all.findIndex((other) => other.name === name) === at);
      const at = seed % (once.length + 1);
      const signals = [...once.slice(at), ...once.slice(0, at), ...once];
      expect(decide(of, { ...about, signals }, asked)).toBe(decide(of, { ...about, signals: once }, asked));
    }),
    RUNS,
  );
});

test('the id is the same however the keys and the lists are ordered, and another one for another decision', () => {
  fc.assert(
    fc.property(definition, definition, device, question, (written, other, about, asked) => {
      const reordered = {
        otherwise: written.otherwise,
        rules: written.rules.map((rule) =>
          Object.fromEntries(Object.entries({ ...rule, when: backwards(rule.when) }).reverse()),
        ),
      };
      const one = compilePolicy(written);
      expect(parsePolicy(JSON.stringify(reordered, null, 2)).id).toBe(one.id);
      const two = compilePolicy(other);
      if (one.id === two.id) expect(decide(two, about, asked)).toEqual(decide(one, about, asked));
    }),
    RUNS,
  );
});

/** The same object with its keys, and the lists below them, from the last to the first. */
function backwards(object: object) {
  const entries = Object.entries(object).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.toReversed() : value,
  ]);
  return Object.fromEntries(entries.reverse());
}

test('a rule that is said never to match neither decides about any device nor is counted', () => {
  const reported = { contradiction: 0, covered: 0 };
  fc.assert(
    fc.property(
      policy,
      fc.array(fc.tuple(documentedDevice, question), { minLength: 10, maxLength: 10 }),
      (of, asked) => {
        const unreachable = unreachableRules(of);
        for (const reason of unreachable.values())
          reported[reason.includes('needs') ? 'contradiction' : 'covered'] += 1;
        for (const [about, event] of asked) {
          const used: string[] = [];
          used.push(decide(of, about, event, ({ rule }) => used.push(rule)).rule);
          expect(used.filter((rule) => unreachable.has(rule))).toEqual([]);
        }
      },
    ),
    RUNS,
  );
  expect(Math.min(reported.contradiction, reported.covered)).toBeGreaterThan(20);
});
