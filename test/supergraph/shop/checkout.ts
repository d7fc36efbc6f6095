import type { ApolloClient } from '@apollo/client';
import type { PlaceOrderInput, ValidateCaptchaInput } from './generated/graphql.ts';
import { PlaceOrderDocument, ValidateCaptchaDocument } from './generated/graphql.ts';

export type Checkout = Awaited<ReturnType<typeof checkOut>>;

/**
 * Places an order. The shop says whether it needs a captcha, and only then is one solved.
 *
 * If no answer arrives, repeat it with the same `checkoutId`, which never orders twice, and with the `attestation` that it
 * returned: as long as nothing was ordered with it, nobody has to solve another captcha.
 */
export async function checkOut(
  client: ApolloClient,
  order: PlaceOrderInput,
  solveCaptcha: () => Promise<ValidateCaptchaInput>,
) {
  const place = (attestation = order.attestation) =>
    client.mutate({
      mutation: PlaceOrderDocument,
      variables: { input: { ...order, attestation } },
      errorPolicy: 'all', // errors are part of the result, so that nothing is thrown
    });
  const placed = await place();
  const answer = placed.data?.placeOrder;
  if (answer?.__typename !== 'ChallengeRequired') return { placed, attestation: order.attestation };

  const { audience, action } = answer;
  const input = { ...(await solveCaptcha()), audience, action };
  const verified = await client.mutate({ mutation: ValidateCaptchaDocument, variables: { input }, errorPolicy: 'all' });
  const attestation = verified.data?.validateCaptcha?.attestation;
  // Without a proof the shop would only ask for a captcha again.
  return attestation ? { verified, attestation, placed: await place(attestation) } : { verified };
}
