import { generateKey } from '../captcha/attestation-keys.ts';

/** Prints fresh secrets for a shell, a Secret or a `.env` file. It writes no file, so nothing is left behind. */

const keys = JSON.stringify([generateKey('active'), generateKey('next')]);
const example = JSON.stringify({
  issuer: 'https://device-trust.example',
  audiences: [{ id: 'orders', actions: ['placeOrder'], subject: 'required' }],
});

process.stdout.write(`# A secret: the keys that sign attestations. Replace nothing in it.
export ATTESTATION_KEYS='${keys}'
# No secret: put your own address, services and actions in.
export ATTESTATION='${example}'
`);
