/**
 * Stands in for the device and for the client SDK on it, which in production makes an opaque token of what it finds out. The
 * sandbox judges a token by what the token itself says.
 */

interface Device {
  readonly name: string;
  readonly token: string;
}

const DEVICES: readonly Device[] = [
  { name: 'A clean phone', token: 'sandbox:ios' },
  { name: 'A clean laptop', token: 'sandbox:web' },
  { name: 'A phone behind a VPN', token: 'sandbox:android:VPN_ENABLED' },
  { name: 'An emulator', token: 'sandbox:android:EMULATOR' },
  { name: 'A phone on a blacklist', token: 'sandbox:ios:WHITELIST_DEVICE_FINGERPRINT' },
  { name: 'A device that cannot be judged', token: 'made-up' },
];

/** What a person can choose from. */
export const DEVICE_NAMES = DEVICES.map(({ name }) => name);

/**
 * A token of this device that nobody has seen before, for one purchase.
 *
 * @throws if there is no such device
 */
export function makeToken(deviceName: string): string {
  const device = DEVICES.find(({ name }) => name === deviceName);
  if (!device) throw new Error(`There is no device called ${deviceName}.`);
  return `${device.token}#${crypto.randomUUID()}`;
}
