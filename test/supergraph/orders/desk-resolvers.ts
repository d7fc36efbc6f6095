import { GraphQLError } from 'graphql';
import type { SubgraphContext } from '../subgraph.ts';
import type { Database } from './database.ts';
import type { Checkout, LaterJudgement, PageArguments } from './desk.ts';

/** The fields of `orders.graphql` that only people with the scope `risk:read` get, as the gateway names it. */
export function createDeskResolvers({ desk, order, ordersFrom }: Database) {
  return {
    Query: {
      checkouts: (_root: unknown, args: PageArguments, context: SubgraphContext) => {
        requireScope(context);
        return desk.page(args);
      },
      checkout: (_root: unknown, { id }: { id: string }, context: SubgraphContext) => {
        requireScope(context);
        return desk.find(id);
      },
    },
    Mutation: {
      judgeAgain: (_root: unknown, { id }: { id: string }, context: SubgraphContext) => {
        requireScope(context);
        return desk.judgeAgain(id, requirePerson(context, 'Sign in to ask again.'));
      },
    },
    Checkout: {
      startedAt: ({ startedAt }: Checkout) => new Date(startedAt).toISOString(),
      status: (checkout: Checkout) => {
        if (checkout.orderId !== null) return 'PLACED';
        return refusalOf(checkout) === null ? 'CHALLENGED' : 'REFUSED';
      },
      refusal: refusalOf,
      customer: ({ customerId }: Checkout) => ({ id: customerId }),
      order: ({ orderId }: Checkout) => orderId && order(orderId),
      judged: ({ sealed }: Checkout) => sealed !== null,
      judgement: referenceTo,
      laterJudgements: ({ id }: Checkout) => desk.later(id),
    },
    LaterJudgement: {
      askedAt: ({ askedAt }: LaterJudgement) => new Date(askedAt).toISOString(),
      judgement: referenceTo,
    },
    Order: {
      judgement: (order: { readonly sealed: string | null }, _args: unknown, context: SubgraphContext) => {
        requireScope(context);
        return referenceTo(order);
      },
    },
    Device: {
      __resolveReference: async ({ id }: { id: string }, context: SubgraphContext) => {
        requireScope(context);
        return { id };
      },
      orders: ({ id }: { id: string }) => ordersFrom(id),
      checkouts: ({ id }: { id: string }, { first }: { first: number }) => desk.from(id, first),
    },
  };
}

function refusalOf({ orderId, outcome }: Checkout): string | null {
  return orderId === null && outcome !== 'CHALLENGED' ? outcome : null;
}

/** What the gateway opens at the device-trust subgraph, without an event. */
function referenceTo({ sealed }: { readonly sealed: string | null }) {
  return sealed === null ? null : { sealed };
}

function requireScope({ seesRisk }: SubgraphContext): void {
  if (seesRisk) return;
  const extensions = { code: 'FORBIDDEN', retryable: false };
  throw new GraphQLError('This needs the scope risk:read.', { extensions });
}

/** Who is signed in. */
export function requirePerson({ userId }: SubgraphContext, advice: string): string {
  if (userId !== undefined) return userId;
  throw new GraphQLError(advice, { extensions: { code: 'UNAUTHENTICATED', retryable: false } });
}
