import type { FingerprintData } from '../fingerprint/contract.ts';
import { findSignal } from '../fingerprint/signals.ts';
import type { ErrorStatus } from './envelopes.ts';

/** The device tokens of the sandbox. Each says in plain text what the response is to be. */

export type DeviceKind = 'android' | 'ios' | 'web';

/** What a token asks for: a device with signals or an error, after a delay in ms. */
export type TokenMeaning = { readonly delayMs: number } & (
  | {
      readonly device: DeviceKind;
      readonly signals: FingerprintData['signals'];
      /** From the second query on, the token has the signal TOKEN_EXPIRED as well. */
      readonly isForOneQuery?: true;
    }
  | { readonly error: 400 | ErrorStatus }
);

/** The longest delay of a token, in ms. */
const MAX_DELAY_MS = 60_000;

const DEVICE = '(?<once>once:)?(?<device>android|ios|web)(?::(?<names>[A-Z_]+(?:,[A-Z_]+)*))?';
const ERROR = 'error:(?<error>400|401|403|404|500)';
const TOKEN = new RegExp(`^sandbox:(?:delay:(?<delay>\\d{1,5}):)?(?:${DEVICE}|${ERROR})(?:#.*)?$`, 's');

/**
 * Parses a token; undefined if the service would call it invalid. Grammar:
 * `sandbox:[delay:MS:][once:](android|ios|web)[:SIGNAL,…][#anything]` or `sandbox:[delay:MS:]error:CODE[#anything]`. A signal has
 * the level and confidence of the catalogue (2.9), and is reported once even if the token repeats it.
 */
export function parseToken(token: string): TokenMeaning | undefined {
  const groups = TOKEN.exec(token)?.groups;
  if (!groups) return undefined;
  const { delay = '0', once, device, names, error } = groups;
  const delayMs = Number(delay);
  if (delayMs > MAX_DELAY_MS) return undefined;
  // Sound, here and below: the pattern matches no other text, and a token has either an error or a device.
  if (error !== undefined) return { delayMs, error: Number(error) as 400 | ErrorStatus };
  const signals = namedSignals(names);
  return signals && { delayMs, device: device as DeviceKind, signals, ...(once && { isForOneQuery: true }) };
}

/** The signals of a comma-separated list; undefined if one of them is not in the catalogue. */
function namedSignals(names: string | undefined): FingerprintData['signals'] | undefined {
  const wanted = names === undefined ? [] : [...new Set(names.split(','))];
  const signals = wanted.flatMap(signalsNamed);
  return signals.length < wanted.length ? undefined : signals;
}

/** The signal of this name, with the level and confidence of the catalogue; none if the catalogue does not have it. */
function signalsNamed(name: string): FingerprintData['signals'] {
  const row = findSignal(name);
  return row ? [{ signal: row.code, level: row.level, confidence: row.confidence }] : [];
}

/** These signals with TOKEN_EXPIRED, which is reported once. */
export function withTokenExpired(signals: FingerprintData['signals']): FingerprintData['signals'] {
  return signals.some(({ signal }) => signal === 'TOKEN_EXPIRED')
    ? signals
    : [...signals, ...signalsNamed('TOKEN_EXPIRED')];
}
