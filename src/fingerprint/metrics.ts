import { ADDRESS_KEYS, type TrustedKey } from '../callers/settings.ts';
import type { MetricsRegistry } from '../observability/metrics.ts';
import {
  DEVICE_METADATA_KEYS,
  type DeviceClientType,
  type DeviceRiskDecision,
  type Signal,
  type SignalLevel,
} from '../schema.generated.ts';
import { CLIENT_TYPES } from './contract.ts';
import type { RiskPolicy } from './policy.ts';

/** How a device can differ from the document, which has one level and one confidence for each signal. */
const DRIFTS = ['unknown_signal', 'level', 'confidence', 'client_type'] as const;
export type Drift = (typeof DRIFTS)[number];

type Decided = { readonly clientType: DeviceClientType; readonly eventType?: string | undefined };

/** An event type (2.1) that can be a label: short, and on one line. */
const LABEL = /^[^\p{Cc}\p{Zl}\p{Zp}]{1,256}$/u;

export type FingerprintMetrics = ReturnType<typeof createFingerprintMetrics>;

/** @param headers the trusted headers that can overrule an argument, by the key that they describe */
export function createFingerprintMetrics(
  { counter, counterOf, onCollect }: MetricsRegistry,
  { rules, otherwise }: Pick<RiskPolicy, 'rules' | 'otherwise'>,
  headers: Partial<Record<TrustedKey | 'ipAddr', unknown>> = {},
) {
  const lookups = counter('fingerprint_lookups_total', 'Device tokens that operations looked up');
  const calls = counter('fingerprint_calls_total', 'Upstream calls that were made for those tokens');
  const signals = counter('signals_total', 'Signals in judgements, by code and level', 'code', 'level');
  const decided =
    'Decisions about devices; shadow rules only count. An event_type that the policy does not name is other';
  const decisions = counter('decisions_total', decided, 'action', 'rule', 'shadow', 'client_type', 'event_type');
  const drift = 'Undocumented values of the service, by kind';
  const judged = 'Judgements that were sealed, opened, or could not be opened';
  const dropped = 'Arguments that a trusted header overruled, by key';

  const recordDroppedMetadata = counterOf<TrustedKey>('metadata_dropped_total', dropped, 'key');
  // Prometheus sees the first increase of a series only if the series began at 0.
  for (const key of DEVICE_METADATA_KEYS)
    if (headers[key] || (ADDRESS_KEYS.includes(key) && headers.ipAddr)) recordDroppedMetadata(key, 0);
  /** Signals since the last scrape. The next scrape adds them to the counter, which builds a key from labels at each increment. */
  const counted = new Map<string, Partial<Record<SignalLevel, number>>>();
  onCollect(() => {
    for (const [code, levels] of counted)
      for (const [level, count] of Object.entries(levels)) signals.inc({ code, level }, count);
    counted.clear();
  });
  // Callers choose the event: only a text of the policy may become a label.
  const eventTypes = new Set(rules.flatMap(({ when }) => when.eventType ?? []).filter((text) => LABEL.test(text)));
  /** A decision of the risk policy, or of one of its shadow rules. */
  const recordDecision = ({ action, rule }: DeviceRiskDecision, isShadow: boolean, about: Decided, count = 1) => {
    const { clientType: client_type, eventType = '' } = about;
    const event_type = eventTypes.has(eventType) ? eventType : 'other';
    decisions.inc({ action, rule, shadow: `${isShadow}`, client_type, event_type }, count);
  };
  // Each series begins at 0, for the reason above.
  for (const { decision, isShadow } of [...rules, { decision: otherwise, isShadow: false }])
    for (const clientType of Object.values(CLIENT_TYPES)) recordDecision(decision, isShadow, { clientType }, 0);

  return {
    recordLookup: () => lookups.inc(),
    recordSentCall: () => calls.inc(),
    /** Counts a signal of a judgement. Its code is null if the catalogue lacks the signal. */
    recordSignal: ({ code, level }: Pick<Signal, 'code' | 'level'>) => {
      const levels = counted.get(code ?? 'unknown') ?? {};
      levels[level] = (levels[level] ?? 0) + 1;
      counted.set(code ?? 'unknown', levels);
    },
    recordDrift: counterOf('catalogue_drift_total', drift, 'kind', DRIFTS),
    recordDecision,
    recordJudgement: counterOf('judgements_total', judged, 'outcome', ['sealed', 'opened', 'unreadable']),
    recordDroppedMetadata,
  };
}
