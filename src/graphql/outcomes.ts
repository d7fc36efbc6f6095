import type { CaptchaVerdict } from '../captcha/verdict.ts';
import type { JudgedSignal } from '../fingerprint/answer.ts';
import type { Capabilities } from './context.ts';

/** Who counts what comes out. */
interface OutcomeCounters {
  /** For each signal that was hit; the code is null for one that the catalogue does not have. */
  readonly signalHit: (code: string | null | undefined, level: string, drift: Drift | undefined) => void;
  readonly verified: (verdict: { type: string; cause: string; proceed: boolean }) => void;
}

/** How a signal differs from the catalogue. */
type Drift = 'unknown_signal' | 'level' | 'confidence';

/** The same capabilities, with what comes out of them counted: once for each upstream answer, however often it is shared. */
export function countOutcomes(capabilities: Capabilities, counters: OutcomeCounters): Capabilities {
  return {
    ...capabilities,
    queryFingerprint: async (request, caller) => {
      const outcome = await capabilities.queryFingerprint(request, caller);
      if (outcome.__typename === 'DeviceFingerprint') {
        for (const signal of outcome.signals) counters.signalHit(signal.code, signal.level, driftOf(signal));
      }
      return outcome;
    },
    validateCaptcha: async (input, caller) => {
      const verdict = await capabilities.validateCaptcha(input, caller);
      counters.verified({ type: verdict.__typename, cause: causeOf(verdict), proceed: verdict.proceed });
      return verdict;
    },
  };
}

/** The service documents one level and one confidence for each signal; another one is news for whoever keeps the catalogue. */
function driftOf({ level, confidence, documented }: JudgedSignal): Drift | undefined {
  if (!documented) return 'unknown_signal';
  if (documented.level !== level) return 'level';
  return documented.confidence === confidence ? undefined : 'confidence';
}

function causeOf(verdict: CaptchaVerdict): string {
  if (verdict.__typename === 'CaptchaPassed') return '';
  return verdict.__typename === 'CaptchaFailed' ? verdict.category : verdict.cause;
}
