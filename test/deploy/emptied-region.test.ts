import { afterAll, expect, onTestFinished, test } from 'vitest';
import { generateKey } from '../../src/captcha/attestation.ts';
import { newSealingKey } from '../../src/fingerprint/sealed-judgement.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_ATTESTATION, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { startInLiveMode } from '../support/app.ts';
import { partsOf } from '../support/attestations.ts';
import { solveChallenge } from '../support/challenges.ts';
import { ask } from '../support/requests.ts';

/** People of one region are sent to another, by the steps of `deploy/README.md`. Pages that were loaded before keep their ids. */

const sandbox = await startSandbox({ port: 0 });
afterAll(sandbox.stop);

const CAPTCHA_IDS = { NA: 'b'.repeat(32), EU: 'c'.repeat(32) } as const;
const KEYS = { NA: newSealingKey(), EU: newSealingKey() };
type Region = keyof typeof KEYS;

/** What a page and a service of this region ask in a region. */
async function startIn(...regions: readonly [Region, ...Region[]]) {
  const accountsOf = <T extends { region: string }>(all: readonly T[]) =>
    regions.flatMap((own) => all.filter(({ region }) => region === own));
  const captchaConfigurations = accountsOf(SANDBOX_CAPTCHAS);
  const captchaIds = captchaConfigurations.map(({ captchaId }) => captchaId);
  const app = await startInLiveMode(sandbox.urls, {
    fingerprintApplications: accountsOf(SANDBOX_APPLICATIONS),
    captchaConfigurations,
    sealingKeys: regions.map((region) => KEYS[region]),
    attestation: {
      ...SANDBOX_ATTESTATION,
      issuer: `https://device-trust-${regions[0].toLowerCase()}.test`,
      audiences: [{ id: 'accounts', actions: ['logIn'], subject: 'optional', captchaIds }],
    },
    attestationKeys: [generateKey('active')],
  });
  onTestFinished(app.stop);
  const judge = async (publicKey?: string) => {
    const query = `query ($publicKey: ID) { deviceFingerprint(token: "sandbox:android", publicKey: $publicKey) { ... on DeviceFingerprint { publicKey judgement { sealed } } } }`;
    const { data, errors } = await ask(app.graphqlUrl, query, { publicKey });
    return errors?.[0]?.extensions.code ?? data.deviceFingerprint;
  };
  const verify = async (region: Region) => {
    const captchaId = CAPTCHA_IDS[region];
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
    expect([proceed, iss, captcha_id]).toEqual([true, 'https://device-trust-na.test', CAPTCHA_IDS[region]]);
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
