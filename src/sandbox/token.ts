import type { FingerprintData } from '../fingerprint/contract.ts';
import { findSignal } from '../fingerprint/signals.ts';
import type { RefusalCode } from './envelopes.ts';

/** The language of sandbox device tokens: a token says in plain text what the service shall answer. */

export type DeviceKind = 'android' | 'ios' | 'web';

export type TokenMeaning = { readonly delayMs: number } & (
  | { readonly device: DeviceKind; readonly signals: FingerprintData['signals'] }
  | { readonly error: 400 | RefusalCode }
);

/** The longest delay that a token may ask for, in milliseconds. */
const MAX_DELAY_MS = 60_000;

const DEVICE = '(?<device>android|ios|web)(?::(?<names>[A-Z_]+(?:,[A-Z_]+)*))?';
const ERROR = 'error:(?<error>400|401|403|404|500)';
const TOKEN = new RegExp(`^sandbox:(?:delay:(?<delay>\\d{1,5}):)?(?:${DEVICE}|${ERROR})(?:#.*)?$`, 's');

/**
 * What a token asks for; undefined for one that the service would call invalid. Grammar:
 * `sandbox:[delay:MS:](android|ios|web)[:SIGNAL,…][#anything]` or `sandbox:[delay:MS:]error:CODE[#anything]`. A signal
 * carries the catalogue's level and confidence (2.9) and is reported once, however often it is named.
 */
export function parseToken(token: string): TokenMeaning | undefined {
  const groups = TOKEN.exec(token)?.groups;
  if (!groups) return undefined;
  const { delay = '0', device, names, error } = groups;
  const delayMs = Number(delay);
  if (delayMs > MAX_DELAY_MS) return undefined;
  // Sound, here and below: the pattern admits nothing else, and a device stands wherever no error does.
  if (error !== undefined) return { delayMs, error: Number(error) as 400 | RefusalCode };
  const signals = namedSignals(names);
  return signals && { delayMs, device: device as DeviceKind, signals };
}

/** The signals of a comma-separated list; undefined when one of them is not in the catalogue. */
function namedSignals(names: string | undefined): FingerprintData['signals'] | undefined {
  const wanted = names === undefined ? [] : [...new Set(names.split(','))];
  const rows = wanted.map(findSignal).filter((row) => row !== undefined);
  if (rows.length < wanted.length) return undefined;
  return rows.map(({ code, level, confidence }) => ({ signal: code, level, confidence }));
}
