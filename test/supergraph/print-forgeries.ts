import { FORGERIES } from './forgeries.ts';
import { createSigner, ISSUER, startKeyServer } from './signer.ts';

/** Prints a good attestation and every forgery as JSON, for a verifier in any language, and publishes the keys until it is stopped. */

const [ours, attacker] = await Promise.all([createSigner(), createSigner()]);
const { jwksUrl } = await startKeyServer([ours.publicJwk]);
const made = FORGERIES.map(async ({ make, ...forgery }) => ({ ...forgery, token: await make(ours, attacker) }));
const tokens = [{ name: 'a good one', verdict: 'GOOD', token: await ours.sign() }, ...(await Promise.all(made))];
const expected = { jwksUrl, issuer: ISSUER, audience: 'orders', action: 'placeOrder', person: 'user-1' };
process.stdout.write(`${JSON.stringify({ ...expected, tokens }, undefined, 2)}\n`);
