import type { DeviceRiskDecision } from '../schema.generated.ts';
import type { JudgedDevice } from './outcome.ts';
import { decide, outcomesOf, type RiskPolicy } from './policy.ts';

/** The policy in use, and the count of its decisions. */
export interface Deciding {
  readonly policy: () => RiskPolicy;
  /** Replaces the risk policy. Requests under way keep their own. */
  readonly usePolicy: (policy: RiskPolicy) => void;
  /** Counts a decision, or what a shadow rule would have decided. */
  readonly record: (decision: DeviceRiskDecision, isShadow: boolean) => void;
}

/** Where decisions are counted. The metrics implement it. */
interface DecisionRecorder {
  readonly recordDecision: Deciding['record'];
  readonly watchPolicy: (outcomes: () => ReturnType<typeof outcomesOf>) => void;
}

/** Puts a policy into use. */
export function startDeciding(first: RiskPolicy, { recordDecision, watchPolicy }: DecisionRecorder): Deciding {
  let policy = first;
  watchPolicy(() => outcomesOf(policy));
  const usePolicy = (next: RiskPolicy) => {
    policy = next;
  };
  return { policy: () => policy, usePolicy, record: recordDecision };
}

/** Decides about a device. Fields that share one lookup share one decision, which is counted once. */
export type Decider = (device: JudgedDevice) => DeviceRiskDecision;

/** Makes the decider of one GraphQL operation, with the policy that is in use when the operation begins. */
export function createDecider(policy: RiskPolicy, record: Deciding['record']): Decider {
  const decisions = new Map<JudgedDevice, DeviceRiskDecision>();
  const onShadow = (decision: DeviceRiskDecision) => record(decision, true);
  return (device) => {
    const known = decisions.get(device);
    if (known) return known;
    const decision = decide(policy, device, device, onShadow);
    record(decision, false);
    decisions.set(device, decision);
    return decision;
  };
}
