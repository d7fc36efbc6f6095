import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { expect, test } from 'vitest';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../src/sandbox/accounts.ts';
import { startSandbox } from '../src/sandbox/server.ts';
import { LIVE, parse } from './config/support.ts';
import { startInLiveMode } from './support/app.ts';
import { verifyAttestation } from './support/attestations.ts';
import { solveChallenge } from './support/challenges.ts';
import { shell, startProcess } from './support/process.ts';
import { ask, request } from './support/requests.ts';

/** `npm run keys`, and servers that start with what it prints. */

const print = async () => parseEnv(await shell('npm run --silent keys'));
const [env, again] = await Promise.all([print(), print()]);
const keys: { kid: string; state: string; d: string }[] = JSON.parse(String(env['ATTESTATION_KEYS']));
const kidsIn = (json: string) => JSON.parse(json).map(({ kid }: { kid: string }) => kid);

test('it prints all variables, with an active key and the next one, and a key that seals, each fresh', () => {
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

test('a shell reads it as well', async () => {
  const command = `eval "$(npm run --silent keys)" && node -p 'JSON.parse(process.env.ATTESTATION_KEYS).length + JSON.parse(process.env.ATTESTATION).audiences[0].id'`;
  expect(await shell(command)).toBe('2orders\n');
});

test('one of two servers opens what the other has sealed with the printed key, and nobody does without it', async () => {
  const { sealingKeys } = parse({ ...LIVE, SEALING_KEYS: String(env['SEALING_KEYS']) });
  const ofAnother = parse({ ...LIVE, SEALING_KEYS: String(again['SEALING_KEYS']) });
  const sandbox = await startSandbox({ port: 0 });
  const first = await startInLiveMode(sandbox.urls, { sealingKeys });
  const SEAL =
    '{ deviceFingerprint(token: "sandbox:ios") { ... on DeviceFingerprint { eventId judgement { sealed } } } }';
  const OPEN =
    'query ($references: [_Any!]!) { _entities(representations: $references) { ... on DeviceJudgement { eventId } } }';
  const { eventId, judgement } = (await ask(first.graphqlUrl, SEAL)).data.deviceFingerprint;
  await first.stop();
  const opened = async (own: typeof sealingKeys) => {
    const app = await startInLiveMode(sandbox.urls, { sealingKeys: own });
    const references = [{ __typename: 'DeviceJudgement', sealed: judgement.sealed }];
    const { data } = await ask(app.graphqlUrl, OPEN, { references });
    await app.stop();
    return data._entities;
  };
  expect(await opened(sealingKeys)).toEqual([{ eventId }]);
  expect(await opened(ofAnother.sealingKeys)).toEqual([null]);
  await sandbox.stop();
});

test('a server attests with the keys of a file, which are replaced without a restart, and a broken file changes nothing', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keys-'));
  const file = join(folder, 'keys.json');
  await writeFile(file, String(env['ATTESTATION_KEYS']));
  const issuer = 'https://device-trust.test';
  const ATTESTATION = String(env['ATTESTATION']).replace('https://device-trust.example', issuer);
  const sandbox = await startSandbox({ port: 0 });
  const child = startProcess('src/main.ts', {
    ALLOW_DIRECT_ACCESS: 'true',
    FINGERPRINT_APPLICATIONS: JSON.stringify(SANDBOX_APPLICATIONS.slice(0, 1)),
    FINGERPRINT_URL_GLB: sandbox.urls.GLB,
    CAPTCHA_CONFIGURATIONS: JSON.stringify(SANDBOX_CAPTCHAS.slice(0, 1)),
    CAPTCHA_URL_GLB: sandbox.urls.GLB,
    PORT: '0',
    SHUTDOWN_GRACE_MS: '0',
    ATTESTATION: ATTESTATION.replace('"required"', '"optional"'),
    ATTESTATION_KEYS_FILE: file,
  });
  try {
    const [, url = ''] = await child.waitFor(/"url":"([^"]+)\/graphql"/);
    const jwks = async () => (await request(`${url}/.well-known/jwks.json`)).text;
    const served = async () => kidsIn(JSON.stringify(JSON.parse(await jwks()).keys));
    expect(await served()).toEqual(kidsIn(String(env['ATTESTATION_KEYS'])));
    const input = { ...(await solveChallenge(sandbox.urls.GLB)), audience: 'orders', action: 'placeOrder' };
    const mutation = 'mutation ($input: ValidateCaptchaInput!) { validateCaptcha(input: $input) { attestation } }';
    const { data } = await ask(`${url}/graphql`, mutation, { input });
    const claims = await verifyAttestation(data.validateCaptcha.attestation, await jwks(), { issuer });
    expect(claims).toMatchObject({ aud: 'orders', action: 'placeOrder' });

    await writeFile(file, '[]');
    await child.waitFor(/the new secrets cannot be used/);
    expect(await served()).toEqual(kidsIn(String(env['ATTESTATION_KEYS'])));
    await writeFile(file, String(again['ATTESTATION_KEYS']));
    await child.waitFor(/secrets rotated/);
    expect(await served()).toEqual(kidsIn(String(again['ATTESTATION_KEYS'])));
  } finally {
    await child.stop();
    await sandbox.stop();
    await rm(folder, { recursive: true });
  }
});
