import type { ApolloClient } from '@apollo/client';
import type { PlaceOrderInput, ValidateCaptchaInput } from './generated/graphql.ts';
import { PLACE_ORDER, VALIDATE_CAPTCHA } from './operations.ts';

export type Checkout = Awaited<ReturnType<typeof checkOut>>;

/** Places an order if the captcha lets it: two operations, because one would place the order whatever the captcha says. */
export async function checkOut(client: ApolloClient, captcha: ValidateCaptchaInput, order: PlaceOrderInput) {
  const verified = await client.mutate({
    mutation: VALIDATE_CAPTCHA,
    variables: { input: captcha },
    errorPolicy: 'all', // errors are part of the result, so that nothing is thrown
  });
  // Null, with an error, is no permission either.
  if (!verified.data?.validateCaptcha?.proceed) return { verified };

  const placed = await client.mutate({ mutation: PLACE_ORDER, variables: { input: order }, errorPolicy: 'all' });
  return { verified, placed };
}
