import { randomUUID } from 'node:crypto';
import { ask, type GraphqlAnswer } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { subgraphHeaders } from './test-secrets.ts';

/** How tests order something: at the order subgraph as a gateway asks it, or through a gateway. */

const PLACE_ORDER = `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) {
  __typename
  ... on OrderPlaced { order { id item priceCents customer { id } } }
  ... on ChallengeRequired { reason audience action }
  ... on OrderRefused { code }
} }`;

/** A wish for a vase that nobody sent before, from a device that needs a captcha, with these changes. */
export function orderInput(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { checkoutId: randomUUID(), item: 'Vase', deviceToken: 'sandbox:android:EMULATOR', ...changes };
}

/** Sends one order on behalf of this person. */
export function sendOrder(
  url: string,
  input: Readonly<Record<string, unknown>>,
  id = 'user-1',
): Promise<GraphqlAnswer> {
  return ask(url, PLACE_ORDER, { input }, subgraphHeaders('orders', { id, scopes: '' }));
}

/** The answer to an order that has to have no errors. */
export async function orderOutcome(
  url: string,
  input: Readonly<Record<string, unknown>>,
  person?: string,
): Promise<OrderOutcome> {
  const { data, errors } = await sendOrder(url, input, person);
  if (errors) throw new Error(`expected no errors, but got ${JSON.stringify(errors)}`);
  return data.placeOrder;
}

/** Orders so many times at the same moment, in turns at each replica. */
export const orderAtOnce = (count: number, urls: readonly string[], input: () => Promise<Record<string, unknown>>) =>
  Promise.all(times(count, async (n) => orderOutcome(urls[n % urls.length] ?? '', await input())));

export interface OrderOutcome {
  readonly __typename: 'OrderPlaced' | 'ChallengeRequired' | 'OrderRefused';
  readonly order?: { readonly id: string };
  readonly reason?: string;
  readonly audience?: string;
  readonly action?: string;
  readonly code?: string;
}
