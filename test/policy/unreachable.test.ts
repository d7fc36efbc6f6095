import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/fingerprint/default-policy.ts';
import { parsePolicy } from '../../src/fingerprint/policy-file.ts';
import { unreachableRules } from '../../src/policy/unreachable.ts';

/** Which rules are found that can never match. That none is found wrongly is a property, in policy.properties.test.ts. */

const found = (...rules: object[]) => {
  const named = rules.map((rule, at) => ({ id: `r${at}`, ...Object.fromEntries([['then', 'DENY']]), ...rule }));
  return [...unreachableRules(parsePolicy(JSON.stringify({ rules: named, otherwise: 'ALLOW' })))];
};

test('none in the built-in policy', () => {
  expect([...unreachableRules(DEFAULT_POLICY)]).toEqual([]);
});

test.each([
  ['the signal always has a lower level', { anyOf: ['VPN_ENABLED'], minLevel: 'HIGH' }, 1, 0],
  ['the signal always has a lower confidence', { anyOf: ['IP_MALICIOUS_ATTACK'], minConfidence: 0.7 }, 1, 0],
  ['the signal has another effect', { anyOf: ['EMULATOR'], effect: 'DENY' }, 1, 0],
  ['its signals may not be there', { anyOf: ['EMULATOR'], noneOf: ['EMULATOR', 'VPN_ENABLED'] }, 1, 0],
  ['it needs more signals than it names', { anyOf: ['EMULATOR', 'CLOUD_PHONE'], atLeast: 3 }, 3, 2],
  ['there are only three whitelists', { effect: 'ALLOW', atLeast: 4 }, 4, 3],
])('a rule contradicts itself if %s', (_why, when, needs, possible) => {
  expect(found({ when })).toEqual([
    ['r0', `it needs ${needs} of the documented signals, but only ${possible} can fit its conditions`],
  ]);
});

test.each<[string, object[], string[]]>([
  ['the same rule', [{ anyOf: ['EMULATOR'] }, { anyOf: ['EMULATOR'] }], ['r0']],
  ['a wider list', [{ anyOf: ['EMULATOR', 'CLOUD_PHONE'] }, { anyOf: ['CLOUD_PHONE'] }], ['r0']],
  ['a lower level', [{ minLevel: 'MEDIUM' }, { minLevel: 'HIGH', minConfidence: 0.9 }], ['r0']],
  ['the level of the signal', [{ minLevel: 'HIGH' }, { anyOf: ['EMULATOR'] }], ['r0']],
  [
    'fewer signals',
    [
      { minLevel: 'HIGH', atLeast: 2 },
      { minLevel: 'HIGH', atLeast: 3 },
    ],
    ['r0'],
  ],
  ['no signal at all', [{ clientType: 'IOS' }, { anyOf: ['EMULATOR'], clientType: 'IOS' }], ['r0']],
  ['several lists', [{ anyOf: ['EMULATOR'] }, { minLevel: 'HIGH' }, { anyOf: ['EMULATOR', 'CLOUD_PHONE'] }], ['r1']],
  [
    'one rule for each client type',
    [{ clientType: ['IOS', 'ANDROID'] }, { clientType: 'WEB_H5' }, { effect: 'DENY' }],
    ['r0', 'r1'],
  ],
  [
    'lists that complement each other',
    [{ anyOf: ['EMULATOR'] }, { anyOf: ['VPN_ENABLED'] }, { anyOf: ['EMULATOR', 'VPN_ENABLED'] }],
    ['r0', 'r1'],
  ],
  ['less to exclude', [{ noneOf: ['EMULATOR'] }, { noneOf: ['EMULATOR', 'VPN_ENABLED'] }], ['r0']],
])('a rule is covered by earlier ones with %s', (_what, whens, by) => {
  const last = `r${whens.length - 1}`;
  expect(found(...whens.map((when) => ({ when })))).toEqual([
    [last, `whatever it matches was decided before by ${by.join(', ')}`],
  ]);
});

test.each<[string, object[]]>([
  ['a shadow rule before it', [{ when: { minLevel: 'HIGH' }, shadow: true }, { when: { anyOf: ['EMULATOR'] } }]],
  ['a rule for another event', [{ when: { eventType: 'login' } }, { when: { effect: 'DENY' } }]],
  ['a rule that excludes more', [{ when: { minLevel: 'LOW', noneOf: ['VPN_ENABLED'] } }, { when: { effect: 'RISK' } }]],
  [
    'a rule for documented signals',
    [{ when: { effect: 'RISK' } }, { when: { minLevel: 'HIGH', noneOf: ['WHITELIST_IP'] } }],
  ],
  ['a rule that needs more', [{ when: { minLevel: 'HIGH', atLeast: 2 } }, { when: { anyOf: ['EMULATOR'] } }]],
])('a rule can match after %s', (_what, rules) => {
  expect(found(...rules)).toEqual([]);
});
