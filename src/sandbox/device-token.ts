import type { FingerprintData } from '../fingerprint/contract.ts';
import { SIGNALS_BY_NAME } from '../fingerprint/signal-catalogue.ts';

/** The devices (fingerprint document, 2.6 and 2.7), at addresses that are reserved for documentation (RFC 5737, RFC 3849). */
const DEVICES = {
  android: {
    client_type: 'Android',
    device_basic: { os: 'Android', pla: 'arm64-v8a', mod: 'Pixel 8', osv: '15' },
    ip_info: { ip: '203.0.113.10' },
  },
  ios: {
    client_type: 'iOS',
    device_basic: { os: 'iOS', pla: 'arm64', mod: 'iPhone16,1', osv: '18.2' },
    ip_info: { ip: '2001:db8::20' },
  },
  // The document allows keys that it does not list (2.7). Here these are `type` and `arch`.
  web: {
    client_type: 'Web/H5',
    device_basic: {
      browser: { name: 'Chrome', version: '131.0.6778.86', major: '131', type: 'desktop' },
      device: { model: 'Macintosh', vendor: 'Apple' },
      os: { name: 'macOS', version: '15.1', arch: 'arm64' },
    },
    ip_info: { ip: '203.0.113.30' },
  },
  // Newer than the document.
  car: { client_type: 'Car', device_basic: { maker: 'Example' }, ip_info: { ip: '203.0.113.40' } },
};

/** Signals that are newer than the document, with their levels. */
const NEWER = new Map(Object.entries({ NEWER_SIGNAL: 'MEDIUM', NEWER_LEVEL: 'CRITICAL' }));

type ErrorStatus = 400 | 401 | 403 | 404 | 500;

const MAX_DELAY_MS = 60_000;

const DEVICE =
  '(?<once>once:)?(?<device>android|ios|web|car)(?::(?<names>[A-Z_]+(?:=[\\d.]+)?(?:,[A-Z_]+(?:=[\\d.]+)?)*))?';
const ERROR = 'error:(?<error>400|401|403|404|500)';
const NAMES = '(?:@(?<deviceName>[^#]+))?(?:#.*)?';
const TOKEN = new RegExp(`^sandbox:(?:delay:(?<delay>\\d{1,5}):)?(?:${DEVICE}|${ERROR})${NAMES}$`, 's');

/** Parses a token, as README.md has it; undefined if it is invalid. One for one query is `isUsed` from the second one on. */
export function parseToken(token: string, isUsed: boolean) {
  const groups = TOKEN.exec(token)?.groups;
  if (!groups) return undefined;
  const { delay = '0', once, device, names, error, deviceName } = groups;
  const delayMs = Number(delay);
  if (delayMs > MAX_DELAY_MS) return undefined;
  const isForOneQuery = once !== undefined;
  // Sound, here and below: the pattern matches no other text, and a token has either an error or a device.
  if (error !== undefined) return { delayMs, deviceName, isForOneQuery, error: Number(error) as ErrorStatus };
  const detail = DEVICES[device as keyof typeof DEVICES];
  const signals = signalsNamed([...(names?.split(',') ?? []), ...(isUsed ? ['TOKEN_EXPIRED'] : [])]);
  return signals && { delayMs, deviceName, isForOneQuery, detail, signals };
}

/** Each of these signals once, as the catalogue has it (2.9) or newer, or with its own confidence. Undefined if one is unknown. */
function signalsNamed(words: readonly string[]): FingerprintData['signals'] | undefined {
  const wanted = new Map(words.map((word) => [word.split('=', 1).join(), word.split('=')[1]]));
  const signals = [...wanted].flatMap(([name, given]) => {
    const row = SIGNALS_BY_NAME.get(name);
    const level = row?.level ?? NEWER.get(name);
    if (level === undefined || (given !== undefined && !CONFIDENCE.test(given))) return [];
    return { signal: name, level, confidence: Number(given ?? row?.confidence ?? 1) };
  });
  return signals.length < wanted.size ? undefined : signals;
}

const CONFIDENCE = /^(0(\.\d{1,3})?|1(\.0{1,3})?)$/;
