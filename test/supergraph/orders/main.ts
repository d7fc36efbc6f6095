import { ORDERS_AUDIENCE, startOrders } from '../orders.ts';

/**
 * One replica of the order subgraph as a process of its own: its database is the file DATABASE, and it trusts the
 * attestations of ATTESTATION_ISSUER, whose keys are at ATTESTATION_JWKS_URL. It asks for judgements at DEVICE_TRUST_URL with
 * DEVICE_TRUST_SECRET; without these it asks nobody, and every order needs a captcha.
 */

const { DATABASE, ATTESTATION_ISSUER, ATTESTATION_JWKS_URL, DEVICE_TRUST_URL, DEVICE_TRUST_SECRET } = process.env;
if (!DATABASE || !ATTESTATION_ISSUER || !ATTESTATION_JWKS_URL) {
  process.stderr.write('Expected DATABASE, ATTESTATION_ISSUER and ATTESTATION_JWKS_URL.\n');
  process.exit(1);
}
const attestation = { jwksUrl: ATTESTATION_JWKS_URL, issuer: ATTESTATION_ISSUER, ...ORDERS_AUDIENCE };
const deviceTrust =
  DEVICE_TRUST_URL && DEVICE_TRUST_SECRET ? { url: DEVICE_TRUST_URL, secret: DEVICE_TRUST_SECRET } : undefined;
const orders = await startOrders({ attestation, deviceTrust, file: DATABASE });
process.stdout.write(`Orders are at ${orders.url}\n`);
process.once('SIGTERM', () => orders.stop());
