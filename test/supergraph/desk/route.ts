import type { CheckoutDecision } from './generated/graphql.ts';

/** What the page shows, as its address says: `#decision=DENY&checkout=ID`. So a link leads there, and "back" works. */
export interface Route {
  readonly decision?: CheckoutDecision | undefined;
  /** The id of the checkout that is open. */
  readonly checkout?: string | undefined;
}

const DECISIONS: readonly CheckoutDecision[] = ['ALLOW', 'CHALLENGE', 'DENY', 'NOT_JUDGED'];

export function readRoute(hash: string): Route {
  const values = new URLSearchParams(hash.replace(/^#/, ''));
  return {
    decision: DECISIONS.find((decision) => decision === values.get('decision')),
    checkout: values.get('checkout') ?? undefined,
  };
}

export function hashOf({ decision, checkout }: Route): string {
  const values = new URLSearchParams({ ...(decision && { decision }), ...(checkout && { checkout }) });
  return `#${values}`;
}
