import { expect, test } from 'vitest';
import { DEFAULT_POLICY, decide, type PolicyInput, parsePolicy } from '../../src/fingerprint/policy.ts';
import { findSignal } from '../../src/fingerprint/signals.ts';
import { readPage } from '../docs/markdown.ts';

/** What each condition means, and what the built-in policy decides. */

/** A documented signal by its name, or one that is newer than the catalogue. */
const signalOf = (name: string) => {
  const row = findSignal(name);
  return row ? { ...row, name } : { name, code: null, effect: null, level: 'HIGH' as const, confidence: 0.7 };
};
const device = (names: readonly string[]): PolicyInput => ({
  clientType: 'ANDROID',
  signals: names.map(signalOf),
  eventType: undefined,
});

/** Does a rule with these conditions match? */
function hits(when: object, about: PolicyInput): boolean {
  const policy = `{"rules":[{"id":"rule","when":${JSON.stringify(when)},"then":"DENY"}],"otherwise":"ALLOW"}`;
  return decide(parsePolicy(policy), about).rule === 'rule';
}

test.each<[object, string[], boolean]>([
  [{ anyOf: ['EMULATOR', 'VPN_ENABLED'] }, ['VPN_ENABLED'], true],
  [{ anyOf: ['EMULATOR'] }, ['VPN_ENABLED'], false],
  [{ noneOf: ['EMULATOR'] }, ['VPN_ENABLED', 'EMULATOR'], false],
  [{ anyOf: ['VPN_ENABLED'], noneOf: ['EMULATOR'] }, ['VPN_ENABLED', 'EMULATOR'], false],
  [{ effect: 'DENY' }, ['WHITELIST_IP'], true],
  [{ effect: 'DENY' }, ['BLACKLIST_IP', 'EMULATOR'], false],
  [{ effect: 'RISK' }, ['BRAND_NEW'], false],
  [{ minLevel: 'HIGH' }, ['TOKEN_EXPIRED'], false],
  [{ minConfidence: 0.6 }, ['IP_MALICIOUS_ATTACK'], true],
  [{ minConfidence: 0.61 }, ['IP_MALICIOUS_ATTACK'], false],
  [{ minLevel: 'HIGH', minConfidence: 0.9 }, ['IP_MALICIOUS_ATTACK', 'VPN_ENABLED'], false],
  [{ atLeast: 2 }, ['VPN_ENABLED', 'BRAND_NEW'], true],
  [{ atLeast: 2 }, ['VPN_ENABLED', 'VPN_ENABLED'], false],
  [{ minLevel: 'HIGH', atLeast: 2 }, ['EMULATOR', 'VPN_ENABLED'], false],
])('%j with the signals %j: %s', (when, names, expected) => {
  expect(hits(when, device(names))).toBe(expected);
});

test('the id of a policy is the same in every process and every release', () => {
  const when = {
    ...{ anyOf: ['VPN_ENABLED', 'EMULATOR', 'EMULATOR'], noneOf: ['BLACKLIST_IP'], effect: 'RISK', minLevel: 'LOW' },
    ...{ minConfidence: 0.5, atLeast: 1, eventType: ['login', 'checkout'], clientType: 'WEB_H5' },
  };
  const rules = [
    { id: 'every', when, ...JSON.parse('{"then":"DENY","shadow":true}') },
    { id: 'text', when: { eventType: 'login' }, ...JSON.parse('{"then":"CHALLENGE","shadow":false}') },
  ];
  expect(parsePolicy(JSON.stringify({ rules, otherwise: 'ALLOW' })).id).toBe('8fb74bda4f6d');
  expect(DEFAULT_POLICY.id).toBe('bec7b5666fdf');
});

test.each<[string, string[], string]>([
  ['nothing was noticed', [], 'ALLOW otherwise'],
  ['only something harmless', ['VPN_ENABLED', 'BROWSER_INCOGNITO_MODE'], 'ALLOW otherwise'],
  ['an emulator', ['EMULATOR'], 'CHALLENGE serious'],
  ['a serious signal that is not documented', ['BRAND_NEW'], 'CHALLENGE serious'],
  ['a phone of a hobbyist', ['DEVICE_ROOTED', 'DEVICE_BOOTLOADER_UNLOCKED'], 'CHALLENGE serious'],
  ['a blacklist, in spite of a whitelist', ['BLACKLIST_IP', 'WHITELIST_ACCOUNT_ID'], 'DENY listed'],
  ['a whitelist, in spite of an emulator', ['EMULATOR', 'BLACKLIST_ACCOUNT_ID'], 'ALLOW trusted'],
  [
    'a token that was used before, in spite of a whitelist',
    ['BLACKLIST_IP', 'TOKEN_EXPIRED'],
    'CHALLENGE reused-token',
  ],
  ['a victim who is guided', ['SCREEN_SHARING', 'VOICE_CONNECTED'], 'CHALLENGE guided'],
  ['two that are of medium level', ['NETWORK_PROXY', 'RUNNING_ON_MACOS'], 'CHALLENGE several'],
  [
    'two tools in use, which only a shadow rule refuses',
    ['ANTIDETECT_BROWSER', 'PSEUDO_BROWSER_ENV'],
    'CHALLENGE serious',
  ],
])('the built-in policy about %s', (_what, names, expected) => {
  const { action, rule } = decide(DEFAULT_POLICY, device(names));
  expect(`${action} ${rule}`).toBe(expected);
});

test('the built-in policy is the one that the documentation shows', () => {
  const blocks = readPage('schema/README.md').blocks.filter(({ text }) => text.includes('"otherwise"'));
  expect(blocks.map(({ text }) => parsePolicy(text))).toEqual([DEFAULT_POLICY]);
});
