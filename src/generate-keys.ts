import { generateKey } from './captcha/attestation.ts';
import { newSealingKey } from './fingerprint/sealed-judgement.ts';

/** `npm run keys` prints fresh secrets for a shell, a Secret or a `.env` file. It writes no file, so nothing is left behind. */

const attestationKeys = JSON.stringify([generateKey('active'), generateKey('next')]);
const sealingKeys = JSON.stringify([newSealingKey()]);
const example = JSON.stringify({
  issuer: 'https://device-trust.example',
  audiences: [{ id: 'orders', actions: ['placeOrder'], subject: 'required' }],
});

process.stdout.write(`# This is a secret: the keys that sign attestations.
export ATTESTATION_KEYS='${attestationKeys}'
# This is an example: put in an address, services and actions of your own. A subject that is required needs TRUSTED_HEADERS.
export ATTESTATION='${example}'
# This is a secret: the key that seals judgements. Without it the judgements that it sealed are lost.
export SEALING_KEYS='${sealingKeys}'
`);
