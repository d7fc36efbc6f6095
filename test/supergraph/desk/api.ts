import type { ApolloClient, ErrorLike } from '@apollo/client';
import type { CheckoutDecision, CheckoutsQuery, DetailFragment } from './generated/graphql.ts';
import { CHECKOUT, CHECKOUTS, JUDGE_AGAIN } from './operations.ts';

/** What the desk asks its gateway, for whoever has signed in. */

export interface Answered<Data> {
  /** Undefined if there is nothing to show; then `error` may say why. */
  readonly data: Data | undefined;
  readonly error: ErrorLike | undefined;
  /** The field that was asked: where the paths of errors begin. */
  readonly root: 'checkouts' | 'checkout' | 'judgeAgain';
}

export type CheckoutPage = NonNullable<CheckoutsQuery['checkouts']>;
export type Row = CheckoutPage['items'][number];

export interface Api {
  /** A page of checkouts: the newest, or those that follow `after`. */
  checkouts(decision: CheckoutDecision | undefined, after?: string): Promise<Answered<CheckoutPage>>;
  /** One checkout with its judgements. This makes no event. */
  checkout(id: string): Promise<Answered<DetailFragment>>;
  /** Judges the device of a checkout once more. This makes an event. */
  judgeAgain(id: string): Promise<Answered<DetailFragment>>;
}

/** @param token of the session */
export function createApi(client: ApolloClient, token: string): Api {
  const options = { context: { headers: { authorization: `Bearer ${token}` } }, errorPolicy: 'all' } as const;
  return {
    async checkouts(decision, after) {
      const variables = { decision: decision ?? null, after: after ?? null };
      const { data, error } = await client.query({ query: CHECKOUTS, variables, ...options });
      return { data: data?.checkouts ?? undefined, error, root: 'checkouts' };
    },
    async checkout(id) {
      const { data, error } = await client.query({ query: CHECKOUT, variables: { id }, ...options });
      return { data: data?.checkout ?? undefined, error, root: 'checkout' };
    },
    async judgeAgain(id) {
      const { data, error } = await client.mutate({ mutation: JUDGE_AGAIN, variables: { id }, ...options });
      return { data: data?.judgeAgain ?? undefined, error, root: 'judgeAgain' };
    },
  };
}
