import { counts, type RiskPolicy, type Rule } from '../fingerprint/policy.ts';
import type { PolicySignal } from '../fingerprint/signal-set.ts';
import { LEVEL_RANK, SIGNAL_CATALOGUE } from '../fingerprint/signals.ts';
import type { DeviceClientType, SignalLevel } from '../schema.generated.ts';

/**
 * Which rules of a policy can never match. The service may send any number of signals that are newer than the catalogue, and
 * the documented ones with their documented level and confidence. What is reported here is certain. A rule that only several
 * earlier rules together make useless may go unnoticed, if one of those needs several signals.
 */

/** The client types that there are. The compiler reports one that is missing. */
const CLIENT_TYPE_NAMES: Readonly<Record<DeviceClientType, true>> = { ANDROID: true, IOS: true, WEB_H5: true };
// Sound: the keys are exactly the client types, and Object.keys widens them to string.
export const CLIENT_TYPES = Object.keys(CLIENT_TYPE_NAMES) as DeviceClientType[];

/** The event types that a policy names, and undefined for every other one and for none. */
export function eventTypesOf({ rules }: RiskPolicy): (string | undefined)[] {
  return [...new Set(rules.flatMap(({ eventTypes }) => [...(eventTypes ?? [])])), undefined];
}

/** A signal that could be sent; any number of different ones if it is not documented. */
interface Candidate {
  readonly signal: PolicySignal;
  readonly weight: number;
}

/** Why each rule that can never match cannot, by the id of the rule. */
export function unreachableRules(policy: RiskPolicy): Map<string, string> {
  const candidates = candidatesFor(policy);
  const found = new Map<string, string>();
  for (const [at, rule] of policy.rules.entries()) {
    const own = countedBy(rule, candidates);
    const possible = weightOf(own);
    if (possible < rule.needs) {
      found.set(
        rule.decision.rule,
        `it needs ${rule.needs} of the documented signals, but only ${possible} can fit its conditions`,
      );
      continue;
    }
    const earlier = policy.rules.slice(0, at).filter(({ isShadow }) => !isShadow);
    const covering = coveredBy(rule, own, earlier, eventTypesOf(policy));
    if (covering) found.set(rule.decision.rule, `whatever it matches was decided before by ${covering.join(', ')}`);
  }
  return found;
}

function candidatesFor({ rules }: RiskPolicy): Candidate[] {
  const documented = SIGNAL_CATALOGUE.map((row) => ({ signal: { ...row, name: row.code }, weight: 1 }));
  // Where one of these counts, so does any with a higher level or confidence, so the others need not be looked at.
  const confidences = new Set([0, ...rules.map(({ minConfidence }) => minConfidence)]);
  // Sound: the keys are exactly the levels, and Object.keys widens them to string.
  const levels = Object.keys(LEVEL_RANK) as SignalLevel[];
  const unknown = levels.flatMap((level) =>
    [...confidences].map((confidence) => ({
      signal: { name: `unknown ${level} ${confidence}`, code: null, effect: null, level, confidence },
      weight: Number.POSITIVE_INFINITY,
    })),
  );
  return [...documented, ...unknown];
}

/** The signals that can help a rule to match. */
function countedBy(rule: Rule, candidates: readonly Candidate[]): Candidate[] {
  return candidates.filter(({ signal }) => counts(rule, signal) && !rule.noneOf?.has(signal.name));
}

function weightOf(candidates: readonly Candidate[]): number {
  return candidates.reduce((sum, { weight }) => sum + weight, 0);
}

/** The ids of the rules that decide before this one whatever matches it; undefined if something can reach it. */
function coveredBy(
  rule: Rule,
  own: readonly Candidate[],
  earlier: readonly Rule[],
  eventTypes: readonly (string | undefined)[],
): string[] | undefined {
  const covering = new Set<string>();
  for (const clientType of rule.clientTypes ?? CLIENT_TYPES) {
    for (const eventType of rule.eventTypes ?? eventTypes) {
      const applying = earlier.filter(
        ({ clientTypes, eventTypes: wanted }) =>
          (!clientTypes || clientTypes.has(clientType)) &&
          (!wanted || (eventType !== undefined && wanted.has(eventType))),
      );
      const here = coveringHere(rule, own, applying);
      if (!here) return undefined;
      for (const { decision } of here) covering.add(decision.rule);
    }
  }
  return [...covering];
}

/** The rules of these that match every device which the rule matches. */
function coveringHere(rule: Rule, own: readonly Candidate[], earlier: readonly Rule[]): readonly Rule[] | undefined {
  // A device that the rule matches may have any other signal as well, except those of its own `noneOf`.
  const certain = earlier.filter(({ noneOf }) => [...(noneOf ?? [])].every((code) => rule.noneOf?.has(code)));
  const alone = certain.find((one) => leastCounted(rule, own, [one]) >= one.needs);
  if (alone) return [alone];
  const needOne = certain.filter(({ needs }) => needs === 1);
  return leastCounted(rule, own, needOne) >= 1 ? needOne : undefined;
}

/** How many signals of a device that the rule matches are certain to count in one of the others. */
function leastCounted(rule: Rule, own: readonly Candidate[], others: readonly Rule[]): number {
  const elsewhere = own.filter(({ signal }) => !others.some((other) => counts(other, signal)));
  return Math.max(0, rule.needs - weightOf(elsewhere));
}
