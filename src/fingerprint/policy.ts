import { createHash } from 'node:crypto';
import type { DeviceClientType, DeviceRiskDecision, Signal, SignalCode } from '../schema.generated.ts';
import defaultPolicy from './default-policy.json' with { type: 'json' };
import { type Condition, OTHERWISE, policyText } from './policy-format.ts';
import { isAtLeast } from './signal-catalogue.ts';

/** A risk policy: an ordered table of rules. The first rule that matches decides. schema/README.md explains the table. */

export interface RiskPolicy {
  /** The first 12 hexadecimal digits of the SHA-256 of its content. The order of keys and the spaces in the file do not matter. */
  readonly id: string;
  readonly rules: readonly Rule[];
  readonly otherwise: DeviceRiskDecision;
}

export interface Rule {
  readonly when: Condition;
  /** The number of different signals that must count: `atLeast`; by default 1, or 0 if no key of `when` selects signals. */
  readonly needs: number;
  readonly isShadow: boolean;
  readonly decision: DeviceRiskDecision;
}

/** The input of a policy: a device as the service judged it, and the business event. */
export interface PolicyInput {
  readonly clientType: DeviceClientType;
  readonly signals: readonly PolicySignal[];
  /** Undefined matches no rule with an `eventType`. */
  readonly eventType: string | undefined;
}

export type PolicySignal = Pick<Signal, 'name' | 'code' | 'level' | 'confidence' | 'effect'>;

/** Reads a policy from the JSON of its file. Each issue is a sentence about one mistake. */
export const policyFile = policyText.transform(({ rules, otherwise }): RiskPolicy => {
  const id = createHash('sha256').update(JSON.stringify({ rules, otherwise })).digest('hex').slice(0, 12);
  return {
    id,
    rules: rules.map(({ id: rule, when, then, shadow }) => {
      const { anyOf, effect, minLevel, minConfidence, atLeast } = when;
      const selectsSignals = [anyOf, effect, minLevel, minConfidence].some((key) => key !== undefined);
      const decision = { action: then, rule, policy: id };
      return { when, needs: atLeast ?? Number(selectsSignals), isShadow: shadow === true, decision };
    }),
    otherwise: { action: otherwise, rule: OTHERWISE, policy: id },
  };
});

/** The decision of the first matching rule that is no shadow. `onShadow` gets the decisions of matching shadow rules before it. */
export function decide(
  policy: RiskPolicy,
  input: PolicyInput,
  onShadow?: (decision: DeviceRiskDecision) => void,
): DeviceRiskDecision {
  for (const rule of policy.rules) {
    if (!matches(rule, input)) continue;
    if (!rule.isShadow) return rule.decision;
    onShadow?.(rule.decision);
  }
  return policy.otherwise;
}

export function matches({ when, needs }: Rule, { clientType, eventType, signals }: PolicyInput): boolean {
  if (when.clientType && !when.clientType.includes(clientType)) return false;
  if (when.eventType && (eventType === undefined || !when.eventType.includes(eventType))) return false;
  if (signals.some(({ code }) => isOneOf(when.noneOf, code))) return false;
  const counted = signals.filter((signal) => counts(when, signal));
  // Duplicate signals, which the document does not forbid, count once.
  return counted.length >= needs && new Set(counted.map(({ name }) => name)).size >= needs;
}

/** Does a rule with this condition count a signal? A signal that is newer than the catalogue has neither a code nor an effect. */
export function counts(when: Condition, { code, effect, level, confidence }: PolicySignal): boolean {
  if (when.anyOf && !isOneOf(when.anyOf, code)) return false;
  if (when.effect && when.effect !== effect) return false;
  if (when.minLevel && !isAtLeast(level, when.minLevel)) return false;
  return when.minConfidence === undefined || confidence >= when.minConfidence;
}

function isOneOf(codes: readonly SignalCode[] | undefined, code: PolicySignal['code']): boolean {
  return codes !== undefined && code != null && codes.includes(code);
}

/** The built-in policy. Only blacklists deny, because a hobbyist's phone can trigger several HIGH signals. */
export const DEFAULT_POLICY = policyFile.parse(JSON.stringify(defaultPolicy));
