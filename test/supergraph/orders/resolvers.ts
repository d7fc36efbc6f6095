import { failure, requireOwnerOrScope, requireScope, type SubgraphContext } from '../subgraph.ts';
import type { Checkout } from './database.ts';
import { type PlaceOrderInput, placeOrder, type Shop } from './place-order.ts';

/** How many checkouts one answer can have. */
const MAX_CHECKOUTS = 100;

/** The fields of `orders.graphql`. What has the tag `risk` there is for people with the scope `risk:read` alone. */
export function createResolvers(shop: Shop) {
  const { database } = shop;
  return {
    Query: {
      checkouts: (_root: unknown, { first }: { first: number }, context: SubgraphContext) => {
        requireScope(context);
        if (first >= 1 && first <= MAX_CHECKOUTS) return database.newest(first);
        throw failure('BAD_USER_INPUT', `first: expected a number from 1 to ${MAX_CHECKOUTS}.`);
      },
    },
    Mutation: {
      placeOrder: (_root: unknown, { input }: { input: PlaceOrderInput }, { userId }: SubgraphContext) => {
        if (userId === undefined) throw failure('UNAUTHENTICATED', 'Sign in to order something.');
        return placeOrder(shop, userId, input);
      },
    },
    // A checkout that was placed is its order as well.
    Order: {
      __resolveReference: async ({ id }: { id: string }, context: SubgraphContext) => {
        const order = database.order(id);
        if (order) requireOwnerOrScope(context, order.customerId);
        return order;
      },
      id: ({ orderId }: Checkout) => orderId,
      customer: customerOf,
      judgement: (order: Checkout, _args: unknown, context: SubgraphContext) => {
        requireScope(context);
        return judgementOf(order);
      },
    },
    Checkout: {
      startedAt: ({ startedAt }: Checkout) => new Date(startedAt).toISOString(),
      customer: customerOf,
      status: ({ outcome }: Checkout) => (outcome === 'PLACED' || outcome === 'CHALLENGED' ? outcome : 'REFUSED'),
      refusal: ({ outcome }: Checkout) => (outcome === 'PLACED' || outcome === 'CHALLENGED' ? null : outcome),
      order: (checkout: Checkout) => (checkout.orderId === null ? null : checkout),
      // Without a reason, whoever asked has ended without an answer.
      notJudged: ({ sealed, notJudged }: Checkout) => (sealed === null ? (notJudged ?? 'OUTAGE') : null),
      judgement: judgementOf,
    },
    User: {
      __resolveReference: async ({ id }: { id: string }, context: SubgraphContext) => {
        requireOwnerOrScope(context, id);
        return { id };
      },
      orders: ({ id }: { id: string }) => database.ordersOf(id),
    },
    FingerprintDevice: {
      __resolveReference: async ({ id }: { id: string }, context: SubgraphContext) => {
        requireScope(context);
        return { id };
      },
      orders: ({ id }: { id: string }) => database.ordersFrom(id),
    },
  };
}

const customerOf = ({ customerId }: Checkout) => ({ id: customerId });

/** What the gateway opens at the device-trust subgraph, without an event. */
const judgementOf = ({ sealed }: Checkout) => (sealed === null ? null : { sealed });
