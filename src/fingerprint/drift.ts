import type { SignalDrift } from '../observability/metrics.ts';
import type { FingerprintOutcome, JudgedSignal } from './outcome.ts';

/** Counts each signal of a device. Call it once for each upstream response, however many fields share it. */
export function countSignals(
  outcome: FingerprintOutcome,
  count: (code: string | null | undefined, level: string, drift: SignalDrift | undefined) => void,
): void {
  if (outcome.__typename !== 'DeviceFingerprint') return;
  for (const signal of outcome.signals) count(signal.code, signal.level, driftOf(signal));
}

function driftOf({ level, confidence, documented }: JudgedSignal): SignalDrift | undefined {
  if (!documented) return 'unknown_signal';
  if (documented.level !== level) return 'level';
  return documented.confidence === confidence ? undefined : 'confidence';
}
