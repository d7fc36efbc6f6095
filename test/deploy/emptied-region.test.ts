import { randomBytes } from 'node:crypto';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { generateKey } from '../../src/captcha/attestation.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { parseConfig } from '../../src/settings/variables.ts';
import { DEFAULTS, startInLiveMode } from '../support/app.ts';
import { partsOf } from '../support/attestations.ts';
import { solveChallenge } from '../support/challenges.ts';
import { ask } from '../support/requests.ts';

/** People of one region are sent to another, by the steps of `deploy/README.md`. Pages that were loaded before keep their ids. */

const sandbox = await startSandbox({ port: 0 });
afterAll(sandbox.stop);

const ACCOUNTS = {
  NA: { publicKey: 'pk_sandbox_na', secret: 'sk_sandbox_na', captchaId: 'b'.repeat(32), captchaKey: 'key_sandbox_na' },
  EU: { publicKey: 'pk_sandbox_eu', secret: 'sk_sandbox_eu', captchaId: 'c'.repeat(32), captchaKey: 'key_sandbox_eu' },
} as const;
const sealingKey = (kid: string) => ({ kty: 'oct', kid, k: randomBytes(32).toString('base64url') });
const SEALING_KEYS = { NA: sealingKey('na'), EU: sealingKey('eu') };
type Region = keyof typeof ACCOUNTS;

/** The configuration of a region, with the accounts and keys of these regions, its own first. */
function configOf(regions: readonly [Region, ...Region[]]) {
  const [own] = regions;
  const issuer = `https://device-trust-${own.toLowerCase()}.test`;
  const audience = { id: 'accounts', actions: ['logIn'], subject: 'optional' };
  const captchaIds = regions.map((region) => ACCOUNTS[region].captchaId);
  const addresses = regions.flatMap((region) => [
    [`FINGERPRINT_URL_${region}`, sandbox.urls[region]],
    [`CAPTCHA_URL_${region}`, sandbox.urls[region]],
  ]);
  const env = {
    FINGERPRINT_APPLICATIONS: JSON.stringify(
      regions.map((region) => ({ publicKey: ACCOUNTS[region].publicKey, secret: ACCOUNTS[region].secret, region })),
    ),
    CAPTCHA_CONFIGURATIONS: JSON.stringify(
      regions.map((region) => ({
        captchaId: ACCOUNTS[region].captchaId,
        captchaKey: ACCOUNTS[region].captchaKey,
        region,
      })),
    ),
    SEALING_KEYS: JSON.stringify(regions.map((region) => SEALING_KEYS[region])),
    ATTESTATION: JSON.stringify({ issuer, audiences: [{ ...audience, captchaIds }] }),
    ATTESTATION_KEYS: JSON.stringify([generateKey('active')]),
    ALLOW_DIRECT_ACCESS: 'true',
    ...Object.fromEntries(addresses),
  };
  const { port, adminPort } = DEFAULTS;
  return { ...parseConfig(env, () => ''), port, adminPort, shutdownGraceMs: 0 };
}

/** What a page and a service of this region ask in a region. */
async function startIn(...regions: readonly [Region, ...Region[]]) {
  const app = await startInLiveMode(sandbox.urls, configOf(regions));
  onTestFinished(app.stop);
  const judge = async (publicKey?: string) => {
    const query = `query ($publicKey: ID) { deviceFingerprint(token: "sandbox:android", publicKey: $publicKey) { ... on DeviceFingerprint { publicKey judgement { sealed } } } }`;
    const { data, errors } = await ask(app.graphqlUrl, query, { publicKey });
    return errors?.[0]?.extensions.code ?? data.deviceFingerprint;
  };
  const verify = async (region: Region) => {
    const { captchaId } = ACCOUNTS[region];
    const solved = await solveChallenge(sandbox.urls[region], captchaId);
    const query = 'mutation ($input: ValidateCaptchaInput!) { validateCaptcha(input: $input) { proceed attestation } }';
    const input = { ...solved, captchaId, audience: 'accounts', action: 'logIn' };
    const { data, errors } = await ask(app.graphqlUrl, query, { input });
    return errors?.[0]?.extensions.code ?? data.validateCaptcha;
  };
  const open = async (sealed: string) => {
    const query =
      'query ($all: [_Any!]!) { _entities(representations: $all) { ... on DeviceJudgement { publicKey } } }';
    const { data } = await ask(app.graphqlUrl, query, { all: [{ __typename: 'DeviceJudgement', sealed }] });
    return data._entities[0]?.publicKey;
  };
  return { judge, verify, open };
}

test('an emptied region: with its accounts and keys behind their own, another region serves the pages and orders of both', async () => {
  const eu = await startIn('EU');
  const { judgement } = await eu.judge();
  const before = await startIn('NA');
  expect([await before.verify('EU'), await before.judge('pk_sandbox_eu')]).toEqual([
    'BAD_USER_INPUT',
    'BAD_USER_INPUT',
  ]);
  expect(await before.open(judgement.sealed)).toBeUndefined();

  const after = await startIn('NA', 'EU');
  for (const region of ['EU', 'NA'] as const) {
    const { proceed, attestation } = await after.verify(region);
    const { iss, captcha_id } = partsOf(attestation).payload;
    expect([proceed, iss, captcha_id]).toEqual([true, 'https://device-trust-na.test', ACCOUNTS[region].captchaId]);
  }
  expect(await after.judge('pk_sandbox_eu')).toMatchObject({ publicKey: 'pk_sandbox_eu' });
  // The default stays its own, and so does the key that seals.
  const own = await after.judge();
  expect(own.publicKey).toBe('pk_sandbox_na');
  expect([await after.open(judgement.sealed), await before.open(own.judgement.sealed)]).toEqual([
    'pk_sandbox_eu',
    'pk_sandbox_na',
  ]);
});
