import fc from 'fast-check';
import type {
  Condition,
  PolicyDefinition,
  PolicyDevice,
  PolicyQuestion,
  RiskPolicy,
  Rule,
} from '../../src/fingerprint/policy.ts';
import { compilePolicy } from '../../src/fingerprint/policy-compiler.ts';
import type { PolicySignal } from '../../src/fingerprint/signal-set.ts';
import { SIGNAL_CATALOGUE } from '../../src/fingerprint/signals.ts';

/** Random policies, and random devices for them to decide about. Few signals and events, so that rules often overlap. */

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

export const definition: fc.Arbitrary<PolicyDefinition> = fc.record({
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
export const documentedDevice = deviceWith(fc.oneof({ weight: 4, arbitrary: documented }, unknown));

/** Any signals. */
export const device = deviceWith(fc.oneof({ weight: 4, arbitrary: documented }, unknown, drifted));

export const question: fc.Arbitrary<PolicyQuestion> = fc.record({
  eventType: fc.constantFrom(undefined, 'login', 'checkout', 'something else'),
});

/** The policy of these rules in another order or selection, with the rules as they were. */
export function withRules(policy: RiskPolicy, rules: readonly Rule[]): RiskPolicy {
  return { ...policy, rules };
}

export const policy: fc.Arbitrary<RiskPolicy> = definition.map(compilePolicy);
