import { randomUUID } from 'node:crypto';
import { type GraphqlAnswer, post } from '../support/requests.ts';

/** How tests order something: at the order subgraph as a gateway asks it, or through a gateway. */

export const PLACE_ORDER = `mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { ...Result } }
fragment Result on PlaceOrderResult {
  __typename
  ... on OrderPlaced { order { id item customer { id } } }
  ... on ChallengeRequired { reason audience action }
  ... on OrderRefused { code }
}`;

/** A wish for a vase that nobody sent before, from a device that needs a captcha, with these changes. */
export function orderInput(changes: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return { checkoutId: randomUUID(), item: 'Vase', deviceToken: 'sandbox:android:EMULATOR', ...changes };
}

/** Sends one order on behalf of this person; `undefined` is nobody. */
export function sendOrder(
  url: string,
  input: Readonly<Record<string, unknown>>,
  person: string | undefined = 'user-1',
): Promise<GraphqlAnswer> {
  return post(url, JSON.stringify({ query: PLACE_ORDER, variables: { input } }), person ? { 'x-user-id': person } : {});
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

export interface OrderOutcome {
  readonly __typename: 'OrderPlaced' | 'ChallengeRequired' | 'OrderRefused';
  readonly order?: { readonly id: string; readonly item: string; readonly customer: { readonly id: string } };
  readonly reason?: string;
  readonly code?: string;
}

/** Sends many orders of one person in requests of up to this many fields, and gives what became of each. */
export async function sendOrders(
  url: string,
  inputs: readonly Readonly<Record<string, unknown>>[],
  perRequest = 50,
): Promise<OrderOutcome[]> {
  const outcomes: OrderOutcome[] = [];
  for (let start = 0; start < inputs.length; start += perRequest) {
    const some = inputs.slice(start, start + perRequest);
    const definitions = some.map((_, index) => `$i${index}: PlaceOrderInput!`).join(' ');
    const fields = some.map((_, index) => `o${index}: placeOrder(input: $i${index}) { ...Result }`).join(' ');
    const query = `mutation (${definitions}) { ${fields} } ${PLACE_ORDER.slice(PLACE_ORDER.indexOf('fragment'))}`;
    const variables = Object.fromEntries(some.map((input, index) => [`i${index}`, input]));
    const { data, errors } = await post(url, JSON.stringify({ query, variables }), { 'x-user-id': 'user-1' });
    if (errors) throw new Error(`expected no errors, but got ${JSON.stringify(errors)}`);
    outcomes.push(...some.map((_, index) => data[`o${index}`]));
  }
  return outcomes;
}
