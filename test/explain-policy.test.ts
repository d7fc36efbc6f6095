import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { SIGNAL_CATALOGUE } from '../src/fingerprint/signal-catalogue.ts';
import { ROOT, startCommand } from './support/process.ts';

/** `npm run policy`, as an analyst runs it. */

const folder = mkdtempSync(join(tmpdir(), 'policy-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function run(policy?: string) {
  const path = join(folder, 'policy.json');
  if (policy !== undefined) writeFileSync(path, policy);
  const child = startCommand([process.execPath, 'src/explain-policy.ts', ...(policy === undefined ? [] : [path])], {
    cwd: ROOT,
    env: {},
  });
  const code = await child.ended;
  return { code, stdout: child.stdout().replaceAll(path, 'FILE'), stderr: child.stderr().replaceAll(path, 'FILE') };
}

/** A policy whose rules, which all deny but for the last one, have these conditions. */
const withRules = (...rules: { id: string; when: object; shadow?: true }[]) =>
  JSON.stringify({ rules: rules.map((rule) => ({ ...rule, ...JSON.parse('{"then":"DENY"}') })), otherwise: 'ALLOW' });

/** The cells of the lines of a table that begin with one of these names. A name has several lines where the question matters. */
const rowsOf = (stdout: string, name: string) =>
  stdout.split('\n').flatMap((line) => (line.startsWith(`${name}  `) ? [line.split(/ {2,}/).slice(1).join(' ')] : []));

test('without a file it explains the built-in policy: each signal, none, those of no catalogue, and several at once', async () => {
  const { code, stdout, stderr } = await run();
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Policy [0-9a-f]{12}, built in: 7 rules, otherwise ALLOW\.\n/);
  for (const { code: name, level, confidence, effect } of SIGNAL_CATALOGUE) {
    expect(rowsOf(stdout, name)).toEqual([expect.stringContaining(`${level} ${confidence} ${effect} `)]);
  }
  expect(rowsOf(stdout, 'EMULATOR')).toEqual(['HIGH 0.95 RISK CHALLENGE serious all']);
  expect(rowsOf(stdout, 'WHITELIST_IP')).toEqual(['HIGH 1 DENY DENY listed all']);
  expect(rowsOf(stdout, '(none)')).toEqual(['ALLOW otherwise all']);
  expect(rowsOf(stdout, '(not documented, HIGH)')).toEqual(['HIGH 1 CHALLENGE serious all']);
  expect(rowsOf(stdout, 'SCREEN_SHARING + VOICE_CONNECTED')).toEqual(['CHALLENGE guided all']);
  expect(rowsOf(stdout, 'PSEUDO_BROWSER_ENV + HOOK_TAMPERING_HIGH')).toEqual([
    'CHALLENGE serious tools-in-use (DENY) all',
  ]);
  expect(stdout).toMatch(/\nEvery rule acts on something that was tried\.\n$/);
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
  expect(rowsOf(stdout, 'EMULATOR')).toEqual(['HIGH 0.95 RISK DENY high count (DENY) all']);
  expect(rowsOf(stdout, 'VPN_ENABLED')).toEqual([
    'LOW 1 RISK ALLOW otherwise ANDROID checkout, ANDROID other, IOS checkout, IOS other, WEB_H5 other',
    'LOW 1 RISK DENY web WEB_H5 checkout',
  ]);
});

test('it names the rules that act on nothing that was tried, and no others', async () => {
  const FOUR = ['EMULATOR', 'CLOUD_PHONE', 'VPN_ENABLED', 'SCREEN_SHARING', 'VOICE_CONNECTED'];
  const { stdout } = await run(
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
  expect(rowsOf(stdout, 'CLOUD_PHONE + NETWORK_PROXY + SCREEN_SHARING')).toEqual(['DENY three shadow (DENY) all']);
  expect(stdout.slice(stdout.indexOf('These rules'))).toBe(
    'These rules act on nothing that was tried:\n' +
      ['weak', 'other-effect', 'excluded'].map((id) => `  ${id}: its conditions never hold\n`).join('') +
      '  late: an earlier rule always decides: emulator, vpn\n  late-shadow: an earlier rule always decides: emulator\n',
  );
});

test('a broken file: every mistake on stderr, and exit code 1', async () => {
  const { code, stdout, stderr } = await run('{ "rules": [{ "id": "a", "when": { "effect": "NO" }, "then": "NO" }] }');
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    'FILE is no policy that can be used:\n' +
      '  rule "a": when.effect: expected RISK, DENY or ALLOW, but got "NO".\n' +
      '  rule "a": then: expected ALLOW, CHALLENGE or DENY, but got "NO".\n' +
      '  otherwise: expected ALLOW, CHALLENGE or DENY, but got nothing.\n',
  );
});
