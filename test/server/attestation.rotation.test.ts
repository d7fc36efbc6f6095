import { expect, onTestFinished, test } from 'vitest';
import { type AttestationKey, generateKey } from '../../src/captcha/attestation-keys.ts';
import { DEFAULTS, startInSandboxMode } from '../support/app.ts';
import { partsOf, verifyAttestation } from '../support/attestations.ts';
import { solveChallenge } from '../support/challenges.ts';
import { ask, request } from '../support/requests.ts';

/** A rotation of the signing keys while requests arrive. `test/captcha/attestation.rotation.test.ts` is about its times. */

const MUTATION = 'mutation ($input: ValidateCaptchaInput!) { validateCaptcha(input: $input) { attestation } }';
const CLIENTS = 4;
const PER_STAGE = 60;

test('under load every attestation is verified by keys that were read before the last step and by those after it', async () => {
  const attestation = {
    issuer: 'https://device-trust.sandbox',
    lifetimeSeconds: 120,
    unverifiedPerMinute: 60,
    audiences: [{ id: 'orders', actions: ['placeOrder'], subject: 'optional' as const }],
  };
  const old = generateKey('active');
  const fresh = generateKey('next');
  const stages: readonly (readonly AttestationKey[])[] = [
    [old, fresh],
    [
      { ...old, state: 'retired' },
      { ...fresh, state: 'active' },
    ],
    [{ ...fresh, state: 'active' }],
  ];
  const configOf = (attestationKeys: readonly AttestationKey[]) => ({ ...DEFAULTS, attestation, attestationKeys });
  const app = await startInSandboxMode(configOf([old]));
  onTestFinished(app.stop);

  const attestations: string[] = [];
  let isOver = false;
  const client = async () => {
    while (!isOver) {
      const input = {
        ...(await solveChallenge(String(app.sandboxUrls?.GLB))),
        audience: 'orders',
        action: 'placeOrder',
      };
      const { data } = await ask(app.graphqlUrl, MUTATION, { input });
      attestations.push(data.validateCaptcha.attestation);
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, client));
  const keys = async () => (await request(`${app.url}/.well-known/jwks.json`)).text;
  for (const stage of stages) {
    const before = await keys();
    app.rotate(configOf(stage));
    const after = await keys();
    const from = attestations.length;
    await expect.poll(() => attestations.length, { timeout: 20_000 }).toBeGreaterThan(from + PER_STAGE);
    const signed = attestations.slice(from);
    for (const one of signed) await verifyAttestation(one, before);
    // The first ones may have been under way during the step, and have the key of before.
    for (const one of signed.slice(CLIENTS)) await verifyAttestation(one, after);
  }
  isOver = true;
  await clients;
  const kids = attestations.map((one) => partsOf(one).header.kid);
  expect([...new Set(kids)]).toEqual([old.kid, fresh.kid]);
}, 60_000);
