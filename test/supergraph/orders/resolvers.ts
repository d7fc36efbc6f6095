import type { SubgraphContext } from '../subgraph.ts';
import { createDeskResolvers, requirePerson } from './desk-resolvers.ts';
import type { Order } from './goods.ts';
import { type PlaceOrderInput, placeOrder, type Shop } from './place-order.ts';

/** The fields of `orders.graphql`. */
export function createResolvers(shop: Shop) {
  const { database } = shop;
  const desk = createDeskResolvers(database);
  return {
    ...desk,
    Query: {
      ...desk.Query,
      order: (_root: unknown, { id }: { id: string }) => database.order(id),
    },
    Mutation: {
      ...desk.Mutation,
      placeOrder: (_root: unknown, { input }: { input: PlaceOrderInput }, context: SubgraphContext) =>
        placeOrder(shop, requirePerson(context, 'Sign in to order something.'), input),
    },
    Order: {
      ...desk.Order,
      __resolveReference: async ({ id }: { id: string }) => database.order(id),
      customer: ({ customerId }: Order) => ({ id: customerId }),
    },
  };
}
