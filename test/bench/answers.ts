import { digits, lotNumber } from './tokens.ts';

/** What every contender has to answer, written out by hand. The order of the keys counts: answers are compared as text. */

/** The judgement of a token. */
export function judgement(number: number) {
  return {
    __typename: 'DeviceFingerprint',
    publicKey: 'pk_bench',
    requestId: `req_01943f2a-6c1e-7a40-9c31-${digits(number)}`,
    eventId: `evt_0195a7d0-13b2-7c55-8f02-${digits(number)}`,
    version: '1.0',
    clientType: 'ANDROID',
    device: { id: `6f1c0e5b8a7d4c3e9b2a1f0d8c7b6a5f4e3d2c1b0a9f8e7d6c5b${digits(number)}` },
    deviceBasic: {
      __typename: 'Mobile',
      os: { name: 'Android', version: '15', additional: null },
      architecture: 'arm64-v8a',
      model: 'Pixel 8',
    },
    ipInfo: { ip: '203.0.113.10' },
    signals: [
      signal('EMULATOR', 'HIGH', 0.95, 'RISK', 'The device is an emulator of an older kind.'),
      signal('NETWORK_PROXY', 'MEDIUM', 1, 'RISK', 'A network proxy is switched on.'),
      signal('VPN_ENABLED', 'LOW', 1, 'RISK', 'A VPN is switched on.'),
      signal('DEVICE_ROOTED', 'HIGH', 1, 'RISK', 'The Android device is rooted.'),
      signal('WHITELIST_IP', 'HIGH', 1, 'DENY', 'The IP address is on your blacklist, in spite of the name.'),
      signal('SYSTEM_VERSION_TOO_LOW', 'MEDIUM', 0.6, 'RISK', 'The operating system is very old.'),
    ],
  };
}

function signal(name: string, level: string, confidence: number, effect: string, meaning: string) {
  return { name, code: name, level, confidence, effect, meaning };
}

/** What is left of a judgement in the documents about decisions: the sixth signal is on a blacklist, which the default policy denies. */
export const undecided = (number: number) => ({ eventId: judgement(number).eventId });
export const decided = (number: number, policy: string) => ({
  ...undecided(number),
  decision: { action: 'DENY', rule: 'listed', policy },
});

/** The answer for a token that no SDK made. */
export const REJECTION = {
  __typename: 'DeviceFingerprintRejected',
  reason: 'INVALID_TOKEN',
  errors: [{ field: 'token', reason: 'Invalid token', type: 'value_error' }],
};

/** The answer for a challenge that was solved. */
export function captchaPass(number: number) {
  return {
    __typename: 'CaptchaPassed',
    proceed: true,
    details: {
      usedType: 'slide',
      userIp: '203.0.113.40',
      lotNumber: lotNumber(number),
      scene: 'login',
      referer: 'https://shop.example/login',
    },
  };
}
