import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { LIVE, parse } from './config/support.ts';
import { scriptOf, shell } from './support/process.ts';

/** `npm run keys`, and a configuration with what it prints. */

const keysWith = (words = '') => shell(`${process.execPath} ${scriptOf('generate-keys')} ${words}`);
const print = async () => parseEnv(await keysWith());
/** The lines as docker reads them: every quote is part of the value. */
async function printForFile(): Promise<Record<string, string>> {
  const lines = (await keysWith('--env')).split('\n').filter((line) => /^[^#]/.test(line));
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s)));
}
const [env, again, literal] = await Promise.all([print(), print(), printForFile()]);
const keys: { kid: string; state: string; d: string }[] = JSON.parse(String(env['ATTESTATION_KEYS']));

test('npm run keys prints all variables, with an active key and the next one, and a key that seals, each fresh', () => {
  expect(Object.keys(env).sort()).toEqual(['ATTESTATION', 'ATTESTATION_KEYS', 'SEALING_KEYS']);
  expect(keys.map(({ state }) => state)).toEqual(['active', 'next']);
  expect(again['ATTESTATION']).toBe(env['ATTESTATION']);
  const sealing: { kid: string; k: string }[] = JSON.parse(String(env['SEALING_KEYS']));
  expect(sealing).toHaveLength(1);
  const printedAgain = String(again['ATTESTATION_KEYS']) + String(again['SEALING_KEYS']);
  const secrets = [...keys.flatMap(({ kid, d }) => [kid, d]), ...sealing.flatMap(({ kid, k }) => [kid, k])];
  expect(new Set(secrets).size).toBe(6);
  for (const part of secrets) {
    expect(part).toMatch(/.{8}/);
    expect(printedAgain).not.toContain(part);
  }
});

test('npm run keys prints what a shell reads as well', async () => {
  const command = `eval "$(npm run --silent keys)" && node -p 'JSON.parse(process.env.ATTESTATION_KEYS).length + JSON.parse(process.env.ATTESTATION).audiences[0].id'`;
  expect(await shell(command)).toBe('2orders\n');
});

test.each(['--envs', '--env more'])('npm run keys with %s is answered by a sentence', async (words) => {
  const refused = keysWith(words);
  const stderr = `expected no argument, or --env for a file that systemd and docker read, but got ${words}\n`;
  await expect(refused).rejects.toMatchObject({ code: 1, stdout: '', stderr });
});

test.each([
  ['a shell', env],
  ['a file of docker', literal],
])(
  'the configuration takes all of it from %s, once the example has an issuer of its own and names no person',
  (_place, from) => {
    const own = { 'https://device-trust.example': 'https://device-trust.test', '"required"': '"optional"' };
    const ATTESTATION = Object.entries(own).reduce(
      (text, [old, next]) => text.replace(old, next),
      `${from['ATTESTATION']}`,
    );
    const { attestation, attestationKeys, sealingKeys } = parse({ ...LIVE, ...from, ATTESTATION });
    expect(attestation).toMatchObject({ issuer: 'https://device-trust.test', audiences: [{ id: 'orders' }] });
    expect([attestationKeys.length, sealingKeys.length]).toEqual([2, 1]);
  },
);
