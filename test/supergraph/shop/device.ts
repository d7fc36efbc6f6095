/**
 * Stands in for the device and for the client SDK on it, which in production makes an opaque token of what it finds out. The
 * sandbox judges a token by what the token itself says, and calls it expired or reused if it is judged twice (`once`).
 */
export const DEVICES: readonly (readonly [name: string, token: string])[] = [
  ['A clean phone', 'sandbox:once:ios@phone'],
  ['A clean laptop', 'sandbox:once:web@laptop'],
  ['A phone behind a VPN', 'sandbox:once:android:VPN_ENABLED@vpn'],
  ['An emulator', 'sandbox:once:android:EMULATOR@emulator'],
  ['A phone on a blacklist', 'sandbox:once:ios:WHITELIST_DEVICE_FINGERPRINT@listed'],
  ['A device with a forged token', 'made-up'],
];

/** 128 random bits. Over plain http there is no `crypto.randomUUID`. */
export const newId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('-');

/** Each browser has devices of its own, and keeps them, so that an analyst sees what else was ordered from one. */
localStorage['browser'] ??= newId();

/** A token of a device, for one try of a purchase. */
export const makeToken = (token: string): string => `${token}-${localStorage['browser']}#${newId()}`;
