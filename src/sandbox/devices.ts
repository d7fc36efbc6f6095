import type { FingerprintData } from '../fingerprint/contract.ts';
import type { DeviceKind } from './token.ts';

/**
 * The three devices of the sandbox (fingerprint document, 2.6 and 2.7). Their addresses are from the ranges reserved for
 * documentation (RFC 5737, RFC 3849).
 */
export const DEVICES: Readonly<Record<DeviceKind, FingerprintData['detail']>> = {
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
};
