import { generateKey } from './captcha/attestation.ts';
import { newSealingKey } from './fingerprint/sealed-judgement.ts';

/** `npm run keys` prints fresh secrets, for a shell or a Secret. It writes no file, so nothing is left behind. */

const words = process.argv.slice(2).join(' ');
const isEnvFile = words === '--env';
if (words !== '' && !isEnvFile) {
  process.stderr.write(`expected no argument, or --env for a file that systemd and docker read, but got ${words}\n`);
  process.exit(1);
}
// In an env file docker keeps quotes, and systemd drops a line with `export`.
const line = (name: string, value: string) => (isEnvFile ? `${name}=${value}` : `export ${name}='${value}'`);

const attestationKeys = JSON.stringify([generateKey('active'), generateKey('next')]);
const sealingKeys = JSON.stringify([newSealingKey()]);
const example = JSON.stringify({
  issuer: 'https://device-trust.example',
  audiences: [{ id: 'orders', actions: ['placeOrder'], subject: 'required' }],
});

process.stdout.write(`# This is a secret: the keys that sign attestations.
${line('ATTESTATION_KEYS', attestationKeys)}
# This is an example: put in an address, services and actions of your own. A subject that is required needs TRUSTED_HEADERS.
${line('ATTESTATION', example)}
# This is a secret: the key that seals judgements. Without it the judgements that it sealed are lost.
${line('SEALING_KEYS', sealingKeys)}
`);
