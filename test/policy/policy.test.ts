import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../src/fingerprint/default-policy.ts';
import { parsePolicy } from '../../src/fingerprint/policy-file.ts';
import { SIGNAL_CATALOGUE } from '../../src/fingerprint/signals.ts';
import { unreachableRules } from '../../src/policy/unreachable.ts';
import { ROOT, startCommand } from '../support/process.ts';

/** The program that explains a policy, as an analyst runs it, and how it finds rules that can never match. */

const folder = mkdtempSync(join(tmpdir(), 'policy-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(policy?: string) {
  const path = join(folder, 'policy.json');
  if (policy !== undefined) writeFileSync(path, policy);
  const child = startCommand([process.execPath, 'src/policy/main.ts', ...(policy === undefined ? [] : [path])], {
    cwd: ROOT,
    env: {},
  });
  const code = await child.ended;
  return { code, stdout: child.stdout().replaceAll(path, 'FILE'), stderr: child.stderr().replaceAll(path, 'FILE') };
}

/** The cells of the table by the signal, with several rows where the decision depends on the question. */
function rowsOf(stdout: string): Map<string, string[]> {
  const rows = new Map<string, string[]>();
  for (const line of stdout.split('\n').filter((one) => /^([A-Z_0-9]+|\(none\)) {2,}/.test(one))) {
    const [signal = '', ...cells] = line.split(/ {2,}/);
    rows.set(signal, [...(rows.get(signal) ?? []), cells.join(' ')]);
  }
  return rows;
}

test('without a file it explains the built-in policy: one row for each signal, and one for none', async () => {
  const { code, stdout, stderr } = await run();
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Policy [0-9a-f]{12}, built in: 7 rules, otherwise ALLOW\.\n/);
  const rows = rowsOf(stdout);
  expect([...rows.keys()]).toEqual(['(none)', ...SIGNAL_CATALOGUE.map(({ code: name }) => name)]);
  expect(rows.get('EMULATOR')).toEqual(['HIGH 0.95 RISK CHALLENGE serious all']);
  expect(rows.get('WHITELIST_IP')).toEqual(['HIGH 1 DENY DENY listed all']);
  expect(rows.get('(none)')).toEqual(['ALLOW otherwise all']);
  expect(stdout).toMatch(/\nEvery rule can match\.\n$/);
}, 20_000);

test('a file: where the decision depends on the question, what shadow rules do, and which rules never match', async () => {
  const { code, stdout } = await run(`{
    "rules": [
      { "id": "web", "when": { "anyOf": ["VPN_ENABLED"], "clientType": "WEB_H5", "eventType": "checkout" }, "then": "DENY" },
      { "id": "count", "when": { "anyOf": ["EMULATOR"] }, "then": "DENY", "shadow": true },
      { "id": "high", "when": { "minLevel": "HIGH" }, "then": "CHALLENGE" },
      { "id": "late", "when": { "anyOf": ["CLOUD_PHONE"] }, "then": "DENY" },
      { "id": "never", "when": { "effect": "ALLOW", "minLevel": "HIGH" }, "then": "ALLOW" }
    ],
    "otherwise": "ALLOW"
  }`);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Policy [0-9a-f]{12}, FILE: 5 rules, otherwise ALLOW\.\n/);
  expect(rowsOf(stdout).get('EMULATOR')).toEqual(['HIGH 0.95 RISK CHALLENGE high count (DENY) all']);
  expect(rowsOf(stdout).get('VPN_ENABLED')).toEqual([
    'LOW 1 RISK ALLOW otherwise ANDROID checkout, ANDROID other, IOS checkout, IOS other, WEB_H5 other',
    'LOW 1 RISK DENY web WEB_H5 checkout',
  ]);
  expect(stdout.slice(stdout.indexOf('These rules'))).toBe(
    'These rules can never match:\n' +
      '  late: whatever it matches was decided before by high.\n' +
      '  never: it needs 1 of the documented signals, but only 0 can fit its conditions.\n',
  );
}, 20_000);

test('a broken file: every mistake on stderr, and exit code 1', async () => {
  const { code, stdout, stderr } = await run('{ "rules": [{ "id": "a", "when": { "effect": "NO" }, "then": "NO" }] }');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    'FILE is no policy that can be used:\n' +
      '  rules.0.when.effect: expected RISK, DENY or ALLOW, but got "NO".\n' +
      '  rules.0.then: expected ALLOW, CHALLENGE or DENY, but got "NO".\n' +
      '  otherwise: expected ALLOW, CHALLENGE or DENY, but got nothing.\n',
  );
}, 20_000);

// Which rules can never match. That none is named wrongly is a property, in policy.properties.test.ts.

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
