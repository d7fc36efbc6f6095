import { Kind } from 'graphql';
import { typeDefs } from '../graphql/type-defs.ts';
import type { DeviceSignalEffect, SignalCode, SignalDefinition, SignalLevel } from '../schema.generated.ts';

export const FINGERPRINT_SDL = typeDefs('fingerprint.graphql');

/** The levels, from the lowest to the highest. */
export const LEVELS = ['LOW', 'MEDIUM', 'HIGH'] as const satisfies readonly SignalLevel[];

export const isLevel = (word: string): word is SignalLevel => LEVELS.some((level) => level === word);
export const isAtLeast = (level: SignalLevel, least: SignalLevel) => LEVELS.indexOf(level) >= LEVELS.indexOf(least);

type Row = readonly [level: SignalLevel, confidence: number];

/** The level and confidence of signals (2.9). Sealed judgements of versions 1 and 2 leave them out, so no row here may change. */
export const RECORDED_ROWS = {
  BEING_DEBUGGED: ['HIGH', 1],
  DEBUG_MODE_OR_TEST_APP: ['LOW', 1],
  EMULATOR: ['HIGH', 0.95],
  CLOUD_PHONE: ['HIGH', 0.8],
  RUNNING_ON_MACOS: ['MEDIUM', 1],
  VPN_ENABLED: ['LOW', 1],
  NETWORK_PROXY: ['MEDIUM', 1],
  INVALID_PACKAGE: ['LOW', 1],
  TOKEN_EXPIRED: ['MEDIUM', 0.9],
  LIMIT_EXCEED: ['MEDIUM', 1],
  SCREEN_SHARING: ['LOW', 1],
  VOICE_CONNECTED: ['LOW', 1],
  WHITELIST_ACCOUNT_ID: ['HIGH', 1],
  WHITELIST_IP: ['HIGH', 1],
  WHITELIST_DEVICE_FINGERPRINT: ['HIGH', 1],
  IP_CRAWLER_OR_BOT: ['MEDIUM', 0.8],
  IP_MALICIOUS_ATTACK: ['HIGH', 0.6],
  IP_SUSPICIOUS_PROXY: ['MEDIUM', 0.8],
  BLACKLIST_ACCOUNT_ID: ['LOW', 1],
  BLACKLIST_IP: ['LOW', 1],
  BLACKLIST_DEVICE_FINGERPRINT: ['LOW', 1],
  DEVICE_JAILBREAK: ['HIGH', 1],
  DEVICE_ROOTED: ['HIGH', 1],
  SUSPICIOUS_CUSTOM_ROM: ['HIGH', 0.8],
  SUSPICIOUS_OPEN_SOURCE_ROM: ['HIGH', 0.9],
  BROWSER_COOKIE_FEATURE_DISABLED: ['MEDIUM', 0.9],
  PSEUDO_BROWSER_ENV: ['HIGH', 0.9],
  BROWSER_INCOGNITO_MODE: ['LOW', 0.8],
  DEVICE_BOOTLOADER_UNLOCKED: ['HIGH', 0.8],
  SUSPICIOUS_DEVICE_RESET: ['HIGH', 0.8],
  SYSTEM_VERSION_TOO_LOW: ['MEDIUM', 0.6],
  DEVICE_WITHOUT_SIM: ['LOW', 0.4],
  HOOK_TAMPERING_LOW: ['MEDIUM', 1],
  HOOK_TAMPERING_MEDIUM: ['HIGH', 1],
  HOOK_TAMPERING_HIGH: ['HIGH', 1],
  SUSPICIOUS_DEVICE_INFO_TAMPERED: ['HIGH', 0.8],
  ANTIDETECT_BROWSER: ['HIGH', 0.8],
  APP_CLONE_TOOL_INSTALLED: ['LOW', 1],
  TAMPER_TOOL_INSTALLED: ['LOW', 1],
  AUTOMATION_TOOL_INSTALLED: ['LOW', 1],
  REVERSE_ENGINEERING_TOOL_INSTALLED: ['LOW', 1],
  NETWORK_TAMPER_TOOL_INSTALLED: ['LOW', 1],
  GAME_TAMPER_TOOL_INSTALLED: ['LOW', 1],
  VIRTUAL_LOCATION_TOOL_INSTALLED: ['LOW', 1],
  RUNNING_IN_VIRTUAL_MACHINE: ['HIGH', 1],
  RUNNING_IN_CLONED_APP: ['HIGH', 1],
  USING_DEVICE_TAMPERING_TOOL: ['HIGH', 1],
  USING_AUTOMATION_TOOL: ['HIGH', 0.95],
  USING_REVERSE_ENGINEERING_TOOL: ['HIGH', 1],
  USING_VIRTUAL_LOCATION: ['HIGH', 1],
  RUNNING_IN_SYSTEM_CLONED: ['LOW', 0.9],
} satisfies Partial<Record<SignalCode, Row>>;

/** The current rows: add new and changed ones here. */
const ROWS: Readonly<Record<SignalCode, Row>> = { ...RECORDED_ROWS };

/** The service names its lists the wrong way round (2.9): it describes `WHITELIST_*` as a blacklist. The description counts. */
function effectOf(code: string): DeviceSignalEffect {
  if (code.startsWith('WHITELIST_')) return 'DENY';
  if (code.startsWith('BLACKLIST_')) return 'ALLOW';
  return 'RISK';
}

const CODES = FINGERPRINT_SDL.definitions.flatMap((type) =>
  type.kind === Kind.ENUM_TYPE_DEFINITION && type.name.value === 'SignalCode' ? (type.values ?? []) : [],
);

/** Every documented signal, in the order of the schema, whose descriptions are the meanings. */
export const SIGNAL_CATALOGUE: readonly SignalDefinition[] = CODES.map(({ name, description }) => {
  // Safe: SignalCode is generated from these values.
  const code = name.value as SignalCode;
  const row = ROWS[code];
  // The compiler names a missing row too, but only after `npm run codegen`, which loads this file.
  if (!row) throw new Error(`expected a row for ${code} in src/fingerprint/signal-catalogue.ts`);
  const [level, confidence] = row;
  return { code, level, confidence, effect: effectOf(code), meaning: description?.value ?? '' };
});

export const SIGNALS_BY_NAME: ReadonlyMap<string, SignalDefinition> = new Map(
  SIGNAL_CATALOGUE.map((row) => [row.code, row]),
);
