import type { CaptchaVerdict } from '../captcha/verdict.ts';
import { findSignal } from '../fingerprint/signals.ts';
import type { Capabilities } from './context.ts';
import type { Signal } from './types.generated.ts';

/** Who counts what comes out. */
interface OutcomeCounters {
  readonly judged: (signals: readonly CountedSignal[]) => void;
  readonly verified: (verdict: { type: string; cause: string; proceed: boolean }) => void;
}

interface CountedSignal {
  /** Null for one that the catalogue does not have. */
  readonly code: string | null | undefined;
  readonly level: string;
  /** How it differs from the catalogue, if it does. */
  readonly drift: 'unknown_signal' | 'level' | 'confidence' | undefined;
}

/** The same capabilities, with what comes out of them counted: once for each upstream answer, however often it is shared. */
export function countOutcomes(capabilities: Capabilities, counters: OutcomeCounters): Capabilities {
  return {
    ...capabilities,
    queryFingerprint: async (request, caller) => {
      const outcome = await capabilities.queryFingerprint(request, caller);
      if (outcome.__typename === 'DeviceFingerprint') counters.judged(outcome.signals.map(withDrift));
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
function withDrift({ name, code, level, confidence }: Signal): CountedSignal {
  const documented = findSignal(name);
  if (!documented) return { code, level, drift: 'unknown_signal' };
  if (documented.level !== level) return { code, level, drift: 'level' };
  return { code, level, drift: documented.confidence === confidence ? undefined : 'confidence' };
}

function causeOf(verdict: CaptchaVerdict): string {
  if (verdict.__typename === 'CaptchaPassed') return '';
  return verdict.__typename === 'CaptchaFailed' ? verdict.category : verdict.cause;
}
