import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { verifyAttestation } from '../support/attestations.ts';
import { solveChallenge } from '../support/challenges.ts';
import { shell, startProcess, type TestProcess } from '../support/process.ts';
import { ask, request } from '../support/requests.ts';

/** `npm run keys`, and a server that starts with what it prints. */

const NAMES = ['ATTESTATION', 'ATTESTATION_KEYS', 'SEALING_KEYS'];

let printed: string;
let env: NodeJS.Dict<string>;
beforeAll(async () => {
  printed = await shell('npm run --silent keys');
  env = parseEnv(printed);
});

const open: { child?: TestProcess; folder?: string } = {};
afterEach(async () => {
  await open.child?.stop();
  if (open.folder) await rm(open.folder, { recursive: true });
});

const kidsAt = async (url: string) =>
  JSON.parse((await request(`${url}/.well-known/jwks.json`)).text).keys.map(({ kid }: { kid: string }) => kid);

async function start(settings: Readonly<Record<string, string>>) {
  const child = startProcess('src/main.ts', { UPSTREAM_MODE: 'sandbox', PORT: '0', SANDBOX_PORT: '0', ...settings });
  open.child = child;
  const [, sandboxUrl = ''] = await child.waitFor(/(http:\/\/127\.0\.0\.1:\d+)\/sandbox\/challenges/);
  const [, url = ''] = await child.waitFor(/Device trust is at (http:\/\/127\.0\.0\.1:\d+)\/graphql/);
  return { child, url, sandboxUrl };
}

describe('npm run keys', () => {
  test('prints all variables, with an active key and the next one, and a key that seals, each fresh', async () => {
    expect(Object.keys(env).sort()).toEqual(NAMES);
    const keys: { kid: string; state: string; d: string }[] = JSON.parse(String(env['ATTESTATION_KEYS']));
    expect(keys.map(({ state }) => state)).toEqual(['active', 'next']);
    expect(keys[0]?.d).not.toBe(keys[1]?.d);
    const again = parseEnv(await shell('npm run --silent keys'));
    expect(again['ATTESTATION']).toBe(env['ATTESTATION']);
    const [sealing, ...others]: { kid: string; k: string }[] = JSON.parse(String(env['SEALING_KEYS']));
    expect(others).toEqual([]);
    for (const part of [sealing?.kid, sealing?.k]) {
      expect(part).toMatch(/.{8}/);
      expect(again['SEALING_KEYS']).not.toContain(part);
    }
    for (const { kid, d } of keys) {
      expect(again['ATTESTATION_KEYS']).not.toContain(kid);
      expect(again['ATTESTATION_KEYS']).not.toContain(d);
    }
  });

  test('prints what a shell reads as well', async () => {
    const command = `eval "$(npm run --silent keys)" && node -p 'JSON.parse(process.env.ATTESTATION_KEYS).length + JSON.parse(process.env.ATTESTATION).audiences[0].id'`;
    expect(await shell(command)).toBe('2orders\n');
  });

  test('prints what a server starts with, and attests with', async () => {
    const ATTESTATION = String(env['ATTESTATION']).replace('"required"', '"optional"');
    const ATTESTATION_KEYS = String(env['ATTESTATION_KEYS']);
    const { url, sandboxUrl } = await start({ ATTESTATION, ATTESTATION_KEYS });
    expect(await kidsAt(url)).toEqual(JSON.parse(ATTESTATION_KEYS).map(({ kid }: { kid: string }) => kid));
    const input = { ...(await solveChallenge(sandboxUrl)), audience: 'orders', action: 'placeOrder' };
    const mutation = 'mutation ($input: ValidateCaptchaInput!) { validateCaptcha(input: $input) { attestation } }';
    const { data } = await ask(`${url}/graphql`, mutation, { input });
    const { text } = await request(`${url}/.well-known/jwks.json`);
    const issuer = 'https://device-trust.example';
    expect(await verifyAttestation(data.validateCaptcha.attestation, text, { issuer })).toMatchObject({
      aud: 'orders',
    });
  }, 20_000);
});

test('one of two servers opens what the other has sealed with the printed key, and nobody does without it', async () => {
  const SEALING_KEYS = String(env['SEALING_KEYS']);
  const SEAL =
    '{ deviceFingerprint(token: "sandbox:ios") { ... on DeviceFingerprint { eventId judgement { sealed } } } }';
  const OPEN =
    'query ($references: [_Any!]!) { _entities(representations: $references) { ... on DeviceJudgement { eventId } } }';
  const first = await start({ SEALING_KEYS });
  const { eventId, judgement } = (await ask(`${first.url}/graphql`, SEAL)).data.deviceFingerprint;
  await first.child.stop();
  const opened = async (settings: Readonly<Record<string, string>>) => {
    const { url, child } = await start(settings);
    const references = [{ __typename: 'DeviceJudgement', sealed: judgement.sealed }];
    const { data } = await ask(`${url}/graphql`, OPEN, { references });
    await child.stop();
    return data._entities;
  };
  expect(await opened({ SEALING_KEYS })).toEqual([{ eventId }]);
  expect(await opened({})).toEqual([null]);
}, 30_000);

test('keys in a file are replaced without a restart, and a broken file changes nothing', async () => {
  open.folder = await mkdtemp(join(tmpdir(), 'keys-'));
  const file = join(open.folder, 'keys.json');
  await writeFile(file, String(env['ATTESTATION_KEYS']));
  const { child, url } = await start({ ATTESTATION: String(env['ATTESTATION']), ATTESTATION_KEYS_FILE: file });
  const before = await kidsAt(url);
  await writeFile(file, '[]');
  await child.waitFor(/the new secrets cannot be used/);
  expect(await kidsAt(url)).toEqual(before);
  const next = String(parseEnv(await shell('npm run --silent keys'))['ATTESTATION_KEYS']);
  await writeFile(file, next);
  await child.waitFor(/secrets rotated/);
  expect(await kidsAt(url)).toEqual(JSON.parse(next).map(({ kid }: { kid: string }) => kid));
}, 30_000);
