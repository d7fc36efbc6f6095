import type { Signal } from '../schema.generated.ts';

/** Level and confidence of the signals that a record of version 1 may write by their names alone. */

/**
 * The catalogue as it was when records of version 1 were first sealed. It never changes, because each record that leaves
 * level and confidence out means these. A signal that has others, or that is not listed, is written with both.
 */
const GROUPS = {
  'HIGH 0.6': 'IP_MALICIOUS_ATTACK',
  'HIGH 0.8':
    'CLOUD_PHONE SUSPICIOUS_CUSTOM_ROM DEVICE_BOOTLOADER_UNLOCKED SUSPICIOUS_DEVICE_RESET SUSPICIOUS_DEVICE_INFO_TAMPERED ANTIDETECT_BROWSER',
  'HIGH 0.9': 'SUSPICIOUS_OPEN_SOURCE_ROM PSEUDO_BROWSER_ENV',
  'HIGH 0.95': 'EMULATOR USING_AUTOMATION_TOOL',
  'HIGH 1':
    'BEING_DEBUGGED WHITELIST_ACCOUNT_ID WHITELIST_IP WHITELIST_DEVICE_FINGERPRINT DEVICE_JAILBREAK DEVICE_ROOTED HOOK_TAMPERING_MEDIUM HOOK_TAMPERING_HIGH RUNNING_IN_VIRTUAL_MACHINE RUNNING_IN_CLONED_APP USING_DEVICE_TAMPERING_TOOL USING_REVERSE_ENGINEERING_TOOL USING_VIRTUAL_LOCATION',
  'LOW 0.4': 'DEVICE_WITHOUT_SIM',
  'LOW 0.8': 'BROWSER_INCOGNITO_MODE',
  'LOW 0.9': 'RUNNING_IN_SYSTEM_CLONED',
  'LOW 1':
    'DEBUG_MODE_OR_TEST_APP VPN_ENABLED INVALID_PACKAGE SCREEN_SHARING VOICE_CONNECTED BLACKLIST_ACCOUNT_ID BLACKLIST_IP BLACKLIST_DEVICE_FINGERPRINT APP_CLONE_TOOL_INSTALLED TAMPER_TOOL_INSTALLED AUTOMATION_TOOL_INSTALLED REVERSE_ENGINEERING_TOOL_INSTALLED NETWORK_TAMPER_TOOL_INSTALLED GAME_TAMPER_TOOL_INSTALLED VIRTUAL_LOCATION_TOOL_INSTALLED',
  'MEDIUM 0.6': 'SYSTEM_VERSION_TOO_LOW',
  'MEDIUM 0.8': 'IP_CRAWLER_OR_BOT IP_SUSPICIOUS_PROXY',
  'MEDIUM 0.9': 'TOKEN_EXPIRED BROWSER_COOKIE_FEATURE_DISABLED',
  'MEDIUM 1': 'RUNNING_ON_MACOS NETWORK_PROXY LIMIT_EXCEED HOOK_TAMPERING_LOW',
} as const;

type Level = Signal['level'];

const DEFAULTS: ReadonlyMap<string, readonly [level: Level, confidence: number]> = new Map(
  Object.entries(GROUPS).flatMap(([group, names]) => {
    const [level, confidence] = group.split(' ');
    // Sound: each group begins with a level.
    return names.split(' ').map((name) => [name, [level as Level, Number(confidence)]] as const);
  }),
);

/** A signal in a record: its name, with its level and confidence unless they are the defaults of version 1. */
export type RecordedSignal = string | [name: string, level: Level, confidence: number];

export function toRecorded({ name, level, confidence }: Pick<Signal, 'name' | 'level' | 'confidence'>): RecordedSignal {
  const [usualLevel, usualConfidence] = DEFAULTS.get(name) ?? [];
  return level === usualLevel && confidence === usualConfidence ? name : [name, level, confidence];
}

/** Undefined for a name without defaults. */
export function fromRecorded(recorded: RecordedSignal): Pick<Signal, 'name' | 'level' | 'confidence'> | undefined {
  if (typeof recorded !== 'string') {
    const [name, level, confidence] = recorded;
    return { name, level, confidence };
  }
  const [level, confidence] = DEFAULTS.get(recorded) ?? [];
  return level === undefined || confidence === undefined ? undefined : { name: recorded, level, confidence };
}
