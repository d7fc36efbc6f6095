import type { FingerprintOutcome, JudgedSignal } from './outcome.ts';

/** Counts each signal of a judgement. Once for each upstream answer, however often that is shared. */
export function countSignals(
  outcome: FingerprintOutcome,
  hit: (code: string | null | undefined, level: string, drift: Drift | undefined) => void,
): void {
  if (outcome.__typename !== 'DeviceFingerprint') return;
  for (const signal of outcome.signals) hit(signal.code, signal.level, driftOf(signal));
}

/** How a signal differs from the catalogue. */
export type Drift = 'unknown_signal' | 'level' | 'confidence';

/** The document has one level and one confidence for each signal; another one is news for whoever keeps the catalogue. */
function driftOf({ level, confidence, documented }: JudgedSignal): Drift | undefined {
  if (!documented) return 'unknown_signal';
  if (documented.level !== level) return 'level';
  return documented.confidence === confidence ? undefined : 'confidence';
}
