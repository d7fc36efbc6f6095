import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { partsOf } from '../support/attestations.ts';
import { ask } from '../support/requests.ts';
import { GATEWAYS } from './gateways.ts';
import type { Running } from './listen.ts';
import { orderInput, orderOutcome } from './orders-client.ts';
import { startTestSupergraph, type TestSupergraph } from './test-supergraph.ts';

/** An outage of the captcha service, through each gateway: few proofs, which are good for cheap orders only. */

const UNVERIFIED_PER_MINUTE = 3;
const VERIFY = `mutation ($captcha: ValidateCaptchaInput!) {
  validateCaptcha(input: $captcha) { __typename proceed attestation }
}`;

describe.each(GATEWAYS)('through %s', (_name, startGateway) => {
  let supergraph: TestSupergraph;
  let gateway: Running;
  beforeAll(async () => {
    supergraph = await startTestSupergraph({ unverifiedPerMinute: UNVERIFIED_PER_MINUTE });
    gateway = await startGateway(supergraph.supergraphSdl);
  });
  afterAll(async () => {
    await gateway.stop();
    await supergraph.stop();
  });

  async function attest(): Promise<string | null> {
    const captcha = { ...(await supergraph.solve()), audience: 'orders', action: 'placeOrder' };
    const { data } = await ask(gateway.url, VERIFY, { captcha });
    expect(data.validateCaptcha).toMatchObject({ __typename: 'CaptchaIndeterminate', proceed: true });
    return data.validateCaptcha.attestation;
  }
  const order = (item: string, attestation: string | null) =>
    orderOutcome(gateway.url, orderInput({ item, attestation }));

  test('a minute has as many proofs as are configured, and they place no order above their value', async () => {
    supergraph.outage.captcha = true;
    const proofs: (string | null)[] = [];
    for (let tries = 0; tries < UNVERIFIED_PER_MINUTE + 5; tries += 1) proofs.push(await attest());
    const issued = proofs.filter((proof) => proof !== null);
    expect(proofs.slice(UNVERIFIED_PER_MINUTE)).toEqual([null, null, null, null, null]);
    expect(issued.map((proof) => partsOf(proof).payload)).toMatchObject(
      Array.from({ length: UNVERIFIED_PER_MINUTE }, () => ({ asr: 'unverified', sub: 'user-1' })),
    );

    for (const proof of proofs) expect(await order('Desk', proof)).not.toMatchObject({ __typename: 'OrderPlaced' });
    expect(supergraph.done).toEqual([]);
    for (const proof of [...proofs, ...issued]) await order('Vase', proof);
    expect(supergraph.done).toEqual(issued.map(() => 'order placed'));
  });
});
