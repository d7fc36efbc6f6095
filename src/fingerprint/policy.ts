import type {
  DeviceClientType,
  DeviceRiskAction,
  DeviceRiskDecision,
  DeviceSignalEffect,
  SignalCode,
  SignalLevel,
} from '../schema.generated.ts';
import { isIn, type PolicySignal, type SignalSet, type SortedSignals, sizeOfBoth, sortSignals } from './signal-set.ts';
import { LEVEL_RANK } from './signals.ts';

/** A risk policy: an ordered table of rules, of which the first one that matches decides. schema/README.md explains it. */

/** A policy as it is written in a file. */
export interface PolicyDefinition {
  readonly rules: readonly RuleDefinition[];
  /** The action if no rule matches. */
  readonly otherwise: DeviceRiskAction;
}

/** A rule as it is written in a file. */
export interface RuleDefinition {
  readonly id: string;
  readonly when: Condition;
  readonly then: DeviceRiskAction;
  /** A shadow rule is counted when it matches, and never decides. */
  readonly shadow?: boolean | undefined;
}

/** What has to hold for a rule, all of it. The keys from `anyOf` to `minConfidence`, except `noneOf`, say which signals count. */
export interface Condition {
  readonly anyOf?: readonly SignalCode[] | undefined;
  readonly noneOf?: readonly SignalCode[] | undefined;
  readonly effect?: DeviceSignalEffect | undefined;
  readonly minLevel?: SignalLevel | undefined;
  readonly minConfidence?: number | undefined;
  /** How many different signals have to count: 1 unless it is given, or 0 if no key says which signals count. */
  readonly atLeast?: number | undefined;
  readonly eventType?: string | readonly string[] | undefined;
  readonly clientType?: DeviceClientType | readonly DeviceClientType[] | undefined;
}

/** A policy that is ready to decide. */
export interface RiskPolicy {
  /** The first 12 hexadecimal digits of the SHA-256 of its content, whatever the order of keys and spaces in its file. */
  readonly id: string;
  readonly rules: readonly Rule[];
  readonly otherwise: DeviceRiskDecision;
}

/** A rule that is ready to be matched. */
export interface Rule {
  readonly isShadow: boolean;
  /** What the rule decides; the same object each time. */
  readonly decision: DeviceRiskDecision;
  /** The number of different signals that have to count. */
  readonly needs: number;
  /** The signals that count, as the catalogue has them. */
  readonly counting: SignalSet;
  /** Those of `noneOf`. */
  readonly excluded: SignalSet | undefined;
  readonly anyOf: ReadonlySet<string> | undefined;
  readonly noneOf: ReadonlySet<string> | undefined;
  readonly effect: DeviceSignalEffect | undefined;
  readonly minRank: number;
  readonly minConfidence: number;
  readonly eventTypes: ReadonlySet<string> | undefined;
  readonly clientTypes: ReadonlySet<DeviceClientType> | undefined;
}

/** What a policy reads of a judged device. */
export interface PolicyDevice {
  readonly clientType: DeviceClientType;
  readonly signals: readonly PolicySignal[];
}

/** What a policy reads of the question. */
export interface PolicyQuestion {
  /** Undefined matches no rule with an `eventType`. */
  readonly eventType: string | undefined;
}

/** The `rule` of a decision that no rule has made. No rule can have this id. */
export const OTHERWISE = 'otherwise';

/** The labels under which the decisions of a policy are counted: one for each rule, and the last for no rule. */
export function outcomesOf({ rules, otherwise }: RiskPolicy) {
  const outcome = ({ action, rule }: DeviceRiskDecision, isShadow: boolean) =>
    ({ action, rule, shadow: isShadow ? 'true' : 'false' }) as const;
  return [...rules.map(({ decision, isShadow }) => outcome(decision, isShadow)), outcome(otherwise, false)];
}

/**
 * What a policy decides about a device: the action of the first rule that matches. The same arguments always give the same
 * decision, and there is one for every device.
 *
 * @param onShadow called with what each shadow rule would have decided that matches before a rule decides
 */
export function decide(
  policy: RiskPolicy,
  device: PolicyDevice,
  question: PolicyQuestion,
  onShadow?: (decision: DeviceRiskDecision) => void,
): DeviceRiskDecision {
  const signals = sortSignals(device.signals);
  for (const rule of policy.rules) {
    if (!holds(rule, device.clientType, signals, question.eventType)) continue;
    if (!rule.isShadow) return rule.decision;
    onShadow?.(rule.decision);
  }
  return policy.otherwise;
}

/** Does everything hold that a rule asks for? */
export function matches(rule: Rule, device: PolicyDevice, question: PolicyQuestion): boolean {
  return holds(rule, device.clientType, sortSignals(device.signals), question.eventType);
}

function holds(
  rule: Rule,
  clientType: DeviceClientType,
  signals: SortedSignals,
  eventType: string | undefined,
): boolean {
  const { needs, counting, excluded, noneOf, eventTypes, clientTypes } = rule;
  if (clientTypes && !clientTypes.has(clientType)) return false;
  if (eventTypes && (eventType === undefined || !eventTypes.has(eventType))) return false;
  if (excluded && sizeOfBoth(signals, excluded) > 0) return false;
  if (noneOf && signals.odd.some(({ code }) => code != null && noneOf.has(code))) return false;
  if (needs === 0) return true;
  const found = sizeOfBoth(signals, counting);
  if (found >= needs) return true;
  return found + signals.odd.length >= needs && found + oddCounted(rule, signals) >= needs;
}

/** How many of the odd signals count. The document does not say that a signal comes only once, and twice the same is not two. */
function oddCounted(rule: Rule, signals: SortedSignals): number {
  const names = new Set<string>();
  for (const signal of signals.odd) {
    const { name, code } = signal;
    if (counts(rule, signal) && !(isIn(signals, code) && isIn(rule.counting, code))) names.add(name);
  }
  return names.size;
}

/** Is a signal one of those that a rule counts? One that is newer than the catalogue has neither a code nor an effect. */
export function counts(
  rule: Pick<Rule, 'anyOf' | 'effect' | 'minRank' | 'minConfidence'>,
  { code, level, confidence, effect }: PolicySignal,
): boolean {
  if (rule.effect !== undefined && effect !== rule.effect) return false;
  if (rule.minRank > 0 && LEVEL_RANK[level] < rule.minRank) return false;
  if (confidence < rule.minConfidence) return false;
  return rule.anyOf === undefined || (code != null && rule.anyOf.has(code));
}
