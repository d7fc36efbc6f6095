import { expect, test } from 'vitest';
import { DEFAULT_POLICY, decide, type PolicyInput, policyFile } from '../../src/fingerprint/policy.ts';
import { SIGNALS_BY_NAME } from '../../src/fingerprint/signal-catalogue.ts';
import { readPage } from '../docs/markdown.ts';

/** What the built-in policy decides. `policy.properties.test.ts` has what each condition means. */

/** A documented signal by its name, or one that is newer than the catalogue. */
const signalOf = (name: string) => {
  const row = SIGNALS_BY_NAME.get(name);
  return row ? { ...row, name } : { name, code: null, effect: null, level: 'HIGH' as const, confidence: 0.7 };
};
const device = (names: readonly string[]): PolicyInput => ({
  clientType: 'ANDROID',
  signals: names.map(signalOf),
  eventType: undefined,
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
  expect(policyFile.parse(JSON.stringify({ rules, otherwise: 'ALLOW' })).id).toBe('8fb74bda4f6d');
  expect(DEFAULT_POLICY.id).toBe('189f53faf1c1');
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

test('the rules of the built-in policy are those that the documentation explains', () => {
  const rows = readPage('schema/README.md').text.matchAll(/^\| `([a-z-]+)` \|.*\| `([A-Z]+)` \|$/gm);
  const decisions = [...DEFAULT_POLICY.rules.map(({ decision }) => decision), DEFAULT_POLICY.otherwise];
  expect([...rows].map(([, id, then]) => [id, then])).toEqual(decisions.map(({ rule, action }) => [rule, action]));
});
