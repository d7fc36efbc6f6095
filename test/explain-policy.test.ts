import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SIGNAL_CATALOGUE } from '../src/fingerprint/signal-catalogue.ts';
import { COMPILED, ROOT, scriptOf, startCommand } from './support/process.ts';

/** `npm run policy`, as an analyst runs it. */

const folder = mkdtempSync(join(tmpdir(), 'policy-'));
afterAll(() => rmSync(folder, { recursive: true }));

const path = join(folder, 'policy.json');

/** Runs it with a policy, if there is one, and with further words. */
async function run(policy?: string, ...words: readonly string[]) {
  if (policy !== undefined) writeFileSync(path, policy);
  const child = startCommand([process.execPath, scriptOf('explain-policy'), ...(policy ? [path] : []), ...words], {
    cwd: ROOT,
    env: COMPILED,
  });
  const code = await child.ended;
  return { code, stdout: child.stdout().replaceAll(path, 'FILE'), stderr: child.stderr().replaceAll(path, 'FILE') };
}
/** A file with this text. */
function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

/** A policy whose rules, which all deny but for the last one, have these conditions. */
const withRules = (...rules: { id: string; when: object; shadow?: true }[]) =>
  JSON.stringify({ rules: rules.map((rule) => ({ ...rule, ...JSON.parse('{"then":"DENY"}') })), otherwise: 'ALLOW' });

/** The cells of the lines of a table that begin with one of these names. A name has several lines where the question matters. */
const rowsOf = (stdout: string, name: string) =>
  stdout.split('\n').flatMap((line) => (line.startsWith(`${name}  `) ? [line.split(/ {2,}/).slice(1).join(' ')] : []));

test('npm run policy without a file explains the built-in policy: each signal, none, those of no catalogue, and several at once', async () => {
  const { code, stdout, stderr } = await run();
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Policy [0-9a-f]{12}, built-in: 7 rules, otherwise ALLOW\.\n/);
  for (const { code: name } of SIGNAL_CATALOGUE) expect(rowsOf(stdout, name)).toHaveLength(1);
  expect(rowsOf(stdout, 'EMULATOR')).toEqual(['CHALLENGE serious all']);
  expect(rowsOf(stdout, 'WHITELIST_IP')).toEqual(['DENY listed all']);
  expect(rowsOf(stdout, '(none)')).toEqual(['ALLOW otherwise all']);
  expect(rowsOf(stdout, '(not documented, HIGH)')).toEqual(['CHALLENGE serious all']);
  expect(rowsOf(stdout, 'SCREEN_SHARING + VOICE_CONNECTED')).toEqual(['CHALLENGE guided all']);
  expect(rowsOf(stdout, 'PSEUDO_BROWSER_ENV + HOOK_TAMPERING_HIGH')).toEqual([
    'CHALLENGE serious tools-in-use (DENY) all',
  ]);
});

test('a file: where the decision depends on the question, and what shadow rules count', async () => {
  const { code, stdout } = await run(
    withRules(
      { id: 'web', when: { anyOf: ['VPN_ENABLED'], clientType: 'WEB_H5', eventType: 'checkout' } },
      { id: 'count', when: { anyOf: ['EMULATOR'] }, shadow: true },
      { id: 'high', when: { minLevel: 'HIGH' } },
    ),
  );
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Policy [0-9a-f]{12}, FILE: 3 rules, otherwise ALLOW\.\n/);
  expect(rowsOf(stdout, 'count')).toEqual(['DENY (shadow) anyOf EMULATOR']);
  expect(rowsOf(stdout, 'high')).toEqual(['DENY minLevel HIGH']);
  expect(rowsOf(stdout, 'EMULATOR')).toEqual(['DENY high count (DENY) all']);
  expect(rowsOf(stdout, 'VPN_ENABLED')).toEqual([
    'ALLOW otherwise ANDROID checkout, ANDROID other, IOS checkout, IOS other, WEB_H5 other, OTHER checkout, OTHER other',
    'DENY web WEB_H5 checkout',
  ]);
});

test('npm run policy names the rules that never acted, and no others', async () => {
  const FOUR = ['EMULATOR', 'CLOUD_PHONE', 'VPN_ENABLED', 'SCREEN_SHARING', 'VOICE_CONNECTED'];
  const { code, stdout } = await run(
    withRules(
      { id: 'weak', when: { anyOf: ['VPN_ENABLED'], minLevel: 'HIGH' } },
      { id: 'other-effect', when: { effect: 'ALLOW', atLeast: 4 } },
      { id: 'excluded', when: { anyOf: ['EMULATOR'], noneOf: ['EMULATOR'] } },
      { id: 'shadow', when: { minLevel: 'LOW' }, shadow: true },
      { id: 'emulator', when: { anyOf: ['EMULATOR'] } },
      { id: 'vpn', when: { anyOf: ['VPN_ENABLED'], clientType: ['IOS', 'ANDROID'] } },
      { id: 'web-vpn', when: { anyOf: ['VPN_ENABLED'], clientType: 'WEB_H5', eventType: 'login' } },
      // Only with signals about which no rule before it decides.
      { id: 'three', when: { anyOf: [...FOUR, 'NETWORK_PROXY'], atLeast: 3, noneOf: ['TOKEN_EXPIRED'] } },
      { id: 'late', when: { anyOf: ['VPN_ENABLED', 'EMULATOR'], clientType: 'IOS' } },
      { id: 'late-shadow', when: { anyOf: ['EMULATOR'] }, shadow: true },
      { id: 'newer', when: { minLevel: 'HIGH', noneOf: SIGNAL_CATALOGUE.map(({ code }) => code) } },
    ),
  );
  expect(code).toBe(3);
  expect(stdout).toMatch(/^Policy .*\. Rules that never act: weak, other-effect, excluded, late, late-shadow\.\n/);
  expect(rowsOf(stdout, 'CLOUD_PHONE + NETWORK_PROXY + SCREEN_SHARING')).toEqual(['DENY three shadow (DENY) all']);
});

test('a policy with one action for every device: the first line says so, and exit code 3', async () => {
  const { code, stdout } = await run(withRules({ id: 'a', when: { anyOf: ['EMULATOR'] } }).replace('ALLOW', 'DENY'));
  expect(code).toBe(3);
  expect(stdout).toMatch(/^Policy .*, otherwise DENY\. Every device that was tried gets DENY\.\n/);
});

test('a broken file: every mistake on stderr, and exit code 1', async () => {
  const { code, stdout, stderr } = await run('{ "rules": [{ "id": "a", "when": { "effect": "NO" }, "then": "NO" }] }');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    'FILE: rule "a": when.effect: expected RISK, DENY or ALLOW, but got "NO".\n' +
      'FILE: rule "a": then: expected ALLOW, CHALLENGE or DENY, but got "NO".\n' +
      'FILE: otherwise: expected ALLOW, CHALLENGE or DENY, but got nothing.\n',
  );
});

test('npm run policy says about one device which rule acts, and which conditions of each rule before it do not hold', async () => {
  const policy = withRules(
    { id: 'checkout', when: { anyOf: ['EMULATOR'], eventType: 'checkout' } },
    { id: 'phones', when: { anyOf: ['EMULATOR'], noneOf: ['BLACKLIST_IP'], clientType: 'ANDROID' } },
    { id: 'sure', when: { anyOf: ['EMULATOR', 'VPN_ENABLED'], minConfidence: 0.8, atLeast: 2 } },
    { id: 'count', when: { effect: 'RISK' }, shadow: true },
    { id: 'any', when: { minLevel: 'HIGH' } },
  );
  const { code, stdout } = await run(policy, 'EMULATOR=0.7,BLACKLIST_IP', 'WEB_H5', 'eventType=login');
  expect(code).toBe(0);
  expect(stdout.split('\n')).toEqual([
    'EMULATOR=0.7,BLACKLIST_IP WEB_H5 eventType=login: DENY by any. Before it:',
    '  checkout: eventType is login',
    '  phones: clientType is WEB_H5; noneOf: it has BLACKLIST_IP',
    '  sure: 0 of 2 signals count: anyOf leaves out BLACKLIST_IP, minConfidence leaves out EMULATOR',
    '  count: matches, and is only counted (shadow)',
    '',
  ]);
  const answerOn = async (event: string) =>
    (await run(policy, 'EMULATOR', 'ANDROID', event)).stdout.split(': DENY ')[1];
  expect(await answerOn('eventType=login')).toBe('by phones. Before it:\n  checkout: eventType is login\n');
  expect(await answerOn('eventType=checkout')).toBe('by checkout. Before it:\n  no rule\n');
  expect((await run(policy, 'none', 'IOS')).stdout).toMatch(/^none IOS: ALLOW by otherwise\. Before it:\n/);
});

test('npm run policy answers about a file of devices in a table, whether they are lines or judgements as the graph returns them', async () => {
  const policy = withRules({ id: 'sure', when: { anyOf: ['EMULATOR'], minConfidence: 0.8, clientType: 'IOS' } });
  const lines = file('lines.txt', 'EMULATOR\nEMULATOR=0.7\nEMULATOR=0.8 IOS\nnone\n');
  const { stdout } = await run(policy, lines);
  expect(rowsOf(stdout, 'EMULATOR')).toEqual([
    'ALLOW otherwise ANDROID other, WEB_H5 other, OTHER other',
    'DENY sure IOS other',
  ]);
  expect(rowsOf(stdout, 'EMULATOR=0.7')).toEqual(['ALLOW otherwise all']);
  expect(rowsOf(stdout, 'EMULATOR=0.8 IOS')).toEqual(['DENY sure all']);
  const signal = { name: 'EMULATOR', code: 'EMULATOR', level: 'HIGH', confidence: 0.9 };
  const judgement = { requestId: 'r-1', clientType: 'IOS', eventType: null, signals: [signal] };
  const other = { ...judgement, requestId: 'r-2', signals: [{ ...signal, confidence: 0.5 }] };
  const whole = file('judgements.json', JSON.stringify({ data: { _entities: [judgement, null, other] } }, null, 2));
  const byLine = file('judgements.jsonl', [judgement, other].map((one) => JSON.stringify(one)).join('\n'));
  for (const one of [whole, byLine]) {
    const table = (await run(policy, one)).stdout;
    expect(rowsOf(table, 'r-1: EMULATOR=0.9 IOS')).toEqual(['DENY sure all']);
    expect(rowsOf(table, 'r-2: EMULATOR=0.5 IOS')).toEqual(['ALLOW otherwise all']);
  }
  const order = { id: 'order-7', judgement: { ...judgement, eventType: 'checkout' } };
  const orders = file('orders.json', JSON.stringify({ data: { orders: [{ id: 'order-6', judgement: null }, order] } }));
  expect(rowsOf((await run(policy, orders)).stdout, 'order-7: EMULATOR=0.9 IOS eventType=checkout')).toEqual([
    'DENY sure all',
  ]);
});

test('npm run policy answers about two policies what changes between them, and for whom', async () => {
  const before = withRules({ id: 'a', when: { anyOf: ['EMULATOR'] } });
  const after = file(
    'other.json',
    withRules({ id: 'a', when: { anyOf: ['EMULATOR'], clientType: ['IOS', 'WEB_H5'] } }),
  );
  const { stdout } = await run(before, after);
  expect(rowsOf(stdout, 'EMULATOR')).toEqual(['DENY a ALLOW otherwise ANDROID other, OTHER other']);
  expect(rowsOf(stdout, 'VPN_ENABLED')).toEqual([]);
  expect((await run(before, file('same.json', before))).stdout).toContain('decides the same about everything');
});

test.each([
  ['a signal that does not exist', ['EMULATR'], 'EMULATR'],
  ['a confidence above 1', ['EMULATOR=1.5'], 'EMULATOR=1.5'],
  ['a client that does not exist', ['EMULATOR', 'PHONE'], 'PHONE'],
  ['a folder', ['src'], 'src'],
])('%s is named, and how to ask is said', async (_what, words, named) => {
  const { code, stdout, stderr } = await run(withRules({ id: 'a', when: { minLevel: 'HIGH' } }), ...words);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain(`but got ${named}.`);
  expect(stderr).toContain('npm run policy -- POLICY SIGNALS');
});
