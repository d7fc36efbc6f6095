/**
 * Stands in for the device and for the client SDK on it, which in production makes an opaque token of what it finds out. The
 * sandbox judges a token by what the token itself says.
 */
export const DEVICES: readonly (readonly [name: string, token: string])[] = [
  ['A clean phone', 'sandbox:ios'],
  ['A clean laptop', 'sandbox:web'],
  ['A phone behind a VPN', 'sandbox:android:VPN_ENABLED'],
  ['An emulator', 'sandbox:android:EMULATOR'],
  ['A phone on a blacklist', 'sandbox:ios:WHITELIST_DEVICE_FINGERPRINT'],
  ['A device with a forged token', 'made-up'],
];

/** A token of a device that nobody has seen before, for one purchase. */
export const makeToken = (token: string): string => `${token}#${crypto.randomUUID()}`;
