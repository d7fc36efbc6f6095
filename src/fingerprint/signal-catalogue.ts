import type { DeviceSignalEffect, SignalCode, SignalDefinition, SignalLevel } from '../schema.generated.ts';

type Row = readonly [level: SignalLevel, confidence: number, meaning: string];

/** The catalogue: level and confidence (2.9), and the meaning in our words. The compiler names a missing row. */
const ROWS: Readonly<Record<SignalCode, Row>> = {
  BEING_DEBUGGED: ['HIGH', 1, 'A debugger can attach to the device or already has.'],
  DEBUG_MODE_OR_TEST_APP: ['LOW', 1, 'Debug mode is on, or the app is a debug or cracked build from outside a store.'],
  EMULATOR: ['HIGH', 0.95, 'The device is an emulator of an older kind.'],
  CLOUD_PHONE: ['HIGH', 0.8, 'The device is a rented cloud phone or runs on an ARM server.'],
  RUNNING_ON_MACOS: ['MEDIUM', 1, 'The mobile app runs on a Mac.'],
  VPN_ENABLED: ['LOW', 1, 'A VPN is switched on.'],
  NETWORK_PROXY: ['MEDIUM', 1, 'A network proxy is switched on.'],
  INVALID_PACKAGE: ['LOW', 1, 'The app was repackaged, or its package name altered.'],
  TOKEN_EXPIRED: ['MEDIUM', 0.9, 'The device token is too old, or was used before.'],
  LIMIT_EXCEED: ['MEDIUM', 1, "A limit was exceeded; the service's document does not name it."],
  SCREEN_SHARING: ['LOW', 1, 'The screen is being shared.'],
  VOICE_CONNECTED: ['LOW', 1, 'A voice call is in progress.'],
  WHITELIST_ACCOUNT_ID: ['HIGH', 1, 'The account is on your blacklist, in spite of the name.'],
  WHITELIST_IP: ['HIGH', 1, 'The IP address is on your blacklist, in spite of the name.'],
  WHITELIST_DEVICE_FINGERPRINT: ['HIGH', 1, 'The device is on your blacklist, in spite of the name.'],
  IP_CRAWLER_OR_BOT: ['MEDIUM', 0.8, 'The IP address is known for crawling or cracking.'],
  IP_MALICIOUS_ATTACK: ['HIGH', 0.6, 'The IP address is known for attacks.'],
  IP_SUSPICIOUS_PROXY: ['MEDIUM', 0.8, 'The IP address is probably a proxy.'],
  BLACKLIST_ACCOUNT_ID: ['LOW', 1, 'The account is on your whitelist, in spite of the name.'],
  BLACKLIST_IP: ['LOW', 1, 'The IP address is on your whitelist, in spite of the name.'],
  BLACKLIST_DEVICE_FINGERPRINT: ['LOW', 1, 'The device is on your whitelist, in spite of the name.'],
  DEVICE_JAILBREAK: ['HIGH', 1, 'The iOS device is jailbroken.'],
  DEVICE_ROOTED: ['HIGH', 1, 'The Android device is rooted.'],
  SUSPICIOUS_CUSTOM_ROM: ['HIGH', 0.8, 'The Android device runs a custom ROM of doubtful origin.'],
  SUSPICIOUS_OPEN_SOURCE_ROM: ['HIGH', 0.9, 'The Android device runs a ROM from an open-source project.'],
  BROWSER_COOKIE_FEATURE_DISABLED: ['MEDIUM', 0.9, 'The browser cannot use cookies.'],
  PSEUDO_BROWSER_ENV: ['HIGH', 0.9, 'The client claims to be a browser but is not.'],
  BROWSER_INCOGNITO_MODE: ['LOW', 0.8, 'The browser window is a private one.'],
  DEVICE_BOOTLOADER_UNLOCKED: ['HIGH', 0.8, 'The bootloader is unlocked.'],
  SUSPICIOUS_DEVICE_RESET: ['HIGH', 0.8, 'The device was probably reset to shed its history.'],
  SYSTEM_VERSION_TOO_LOW: ['MEDIUM', 0.6, 'The operating system is very old.'],
  DEVICE_WITHOUT_SIM: ['LOW', 0.4, 'No SIM card was found.'],
  HOOK_TAMPERING_LOW: [
    'MEDIUM',
    1,
    'Code may have been altered, low risk; rule out your own instrumentation before you act on this.',
  ],
  HOOK_TAMPERING_MEDIUM: ['HIGH', 1, 'Code was altered; the logic of the app may have changed.'],
  HOOK_TAMPERING_HIGH: ['HIGH', 1, 'Code was altered, high risk.'],
  SUSPICIOUS_DEVICE_INFO_TAMPERED: ['HIGH', 0.8, 'Device attributes were forged: they contradict its fingerprint.'],
  ANTIDETECT_BROWSER: ['HIGH', 0.8, 'The browser is built to escape detection.'],
  APP_CLONE_TOOL_INSTALLED: ['LOW', 1, 'A tool that clones apps is installed.'],
  TAMPER_TOOL_INSTALLED: ['LOW', 1, 'A tool that modifies apps or devices is installed.'],
  AUTOMATION_TOOL_INSTALLED: ['LOW', 1, 'A tool for automation or for controlling many devices at once is installed.'],
  REVERSE_ENGINEERING_TOOL_INSTALLED: ['LOW', 1, 'A tool for reverse engineering is installed.'],
  NETWORK_TAMPER_TOOL_INSTALLED: ['LOW', 1, 'A tool that alters network traffic is installed.'],
  GAME_TAMPER_TOOL_INSTALLED: ['LOW', 1, 'A tool that modifies games is installed.'],
  VIRTUAL_LOCATION_TOOL_INSTALLED: ['LOW', 1, 'A tool that fakes the location is installed.'],
  RUNNING_IN_VIRTUAL_MACHINE: ['HIGH', 1, 'The app runs in a virtual machine.'],
  RUNNING_IN_CLONED_APP: ['HIGH', 1, 'The app runs as a clone beside the original.'],
  USING_DEVICE_TAMPERING_TOOL: ['HIGH', 1, 'A tool that modifies apps or devices is in use.'],
  USING_AUTOMATION_TOOL: ['HIGH', 0.95, 'A tool for automation or for controlling many devices at once is in use.'],
  USING_REVERSE_ENGINEERING_TOOL: ['HIGH', 1, 'A tool for reverse engineering is in use.'],
  USING_VIRTUAL_LOCATION: ['HIGH', 1, 'The location is being faked.'],
  RUNNING_IN_SYSTEM_CLONED: ['LOW', 0.9, 'The app may run in a second instance that the system made.'],
};

/** The levels, and the same as numbers that can be compared. */
export const LEVELS = ['LOW', 'MEDIUM', 'HIGH'] as const satisfies readonly SignalLevel[];
export const LEVEL_RANK: Readonly<Record<SignalLevel, number>> = { LOW: 0, MEDIUM: 1, HIGH: 2 };

export const isLevel = (word: string): word is SignalLevel => Object.hasOwn(LEVEL_RANK, word);

/** The service names its lists the wrong way round (2.9): it describes `WHITELIST_*` as a blacklist, and the effect follows that. */
function effectOf(code: string): DeviceSignalEffect {
  if (code.startsWith('WHITELIST_')) return 'DENY';
  if (code.startsWith('BLACKLIST_')) return 'ALLOW';
  return 'RISK';
}

/** Every documented signal, in the document's order. */
export const SIGNAL_CATALOGUE: readonly SignalDefinition[] = Object.entries(ROWS).map(
  ([code, [level, confidence, meaning]]) => ({
    // Sound: ROWS is a Record over SignalCode, and Object.entries widens its keys to string.
    code: code as SignalCode,
    level,
    confidence,
    effect: effectOf(code),
    meaning,
  }),
);

/** The same by the names that the service sends. */
export const SIGNALS_BY_NAME: ReadonlyMap<string, SignalDefinition> = new Map(
  SIGNAL_CATALOGUE.map((row) => [row.code, row]),
);
