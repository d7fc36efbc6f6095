import { GraphQLError } from 'graphql';
import type { SubgraphContext } from '../subgraph.ts';
import type { Order } from './goods.ts';
import { type PlaceOrderInput, placeOrder, type Shop } from './place-order.ts';

/** The fields of `orders.graphql`. */
export function createResolvers(shop: Shop) {
  const { database } = shop;
  return {
    Query: {
      order: (_root: unknown, { id }: { id: string }) => database.order(id),
    },
    Mutation: {
      placeOrder: (_root: unknown, { input }: { input: PlaceOrderInput }, { userId }: SubgraphContext) => {
        if (userId === undefined) {
          const extensions = { code: 'UNAUTHENTICATED', retryable: false };
          throw new GraphQLError('Sign in to order something.', { extensions });
        }
        return placeOrder(shop, userId, input);
      },
    },
    Order: {
      __resolveReference: async ({ id }: { id: string }) => database.order(id),
      customer: ({ customerId }: Order) => ({ id: customerId }),
      judgement: ({ sealed }: Order) => (sealed == null ? null : { sealed }),
    },
    Device: {
      __resolveReference: async ({ id }: { id: string }) => ({ id }),
      orders: ({ id }: { id: string }) => database.ordersFrom(id),
    },
  };
}
