import type { DatabaseSync } from 'node:sqlite';
import { GraphQLError } from 'graphql';
import type { Judge } from './device-trust.ts';

/** What analysts read about checkouts, and how they ask again. */

/** Each row is a new event that was paid for, so none is ever replaced or deleted. A row without `sealed` was claimed only. */
export const LATER_JUDGEMENTS_TABLE = `
  CREATE TABLE IF NOT EXISTS later_judgements (
    checkout TEXT NOT NULL REFERENCES checkouts (id),
    number INTEGER NOT NULL,
    asked_at BIGINT NOT NULL,
    asked_by TEXT NOT NULL,
    sealed TEXT,
    PRIMARY KEY (checkout, number)
  );
`;

/** How often a checkout can be judged again. */
const MAX_LATER_JUDGEMENTS = 20;
/** How many checkouts one answer can have. */
const MAX_PAGE = 100;

/** A checkout as it is stored. */
export interface Checkout {
  readonly id: string;
  readonly customerId: string;
  readonly item: string;
  /** In ms since 1970. */
  readonly startedAt: number;
  /** What the customer was answered last, unless the order was placed: CHALLENGED, or the code of a refusal. */
  readonly outcome: string | null;
  readonly orderId: string | null;
  readonly deviceToken: string | null;
  readonly sealed: string | null;
}

export interface LaterJudgement {
  /** In ms since 1970. */
  readonly askedAt: number;
  readonly askedBy: string;
  readonly sealed: string;
}

export interface PageArguments {
  readonly first: number;
  readonly after?: string | null;
  readonly decision?: string | null;
}

// A checkout is listed as soon as it is judged, or the customer got an answer.
const CHECKOUT = `SELECT c.id, c.customer_id AS "customerId", c.item, c.started_at AS "startedAt", c.outcome,
  o.id AS "orderId", c.device_token AS "deviceToken", c.sealed
  FROM checkouts c LEFT JOIN orders o ON o.customer_id = c.customer_id AND o.checkout_id = c.checkout_id
  WHERE COALESCE(c.sealed, c.outcome, o.id) IS NOT NULL`;
const NEWEST_FIRST = 'ORDER BY c.id DESC LIMIT ?';
/** Comes after each id, which is a UUID. */
const AFTER_ALL = 'g';

export type Desk = ReturnType<typeof createDesk>;

/**
 * @param database has the tables of checkouts, orders and later judgements
 * @param judge asks for a judgement; without it there is never one
 */
export function createDesk(database: DatabaseSync, judge: Judge | undefined) {
  const statements = {
    page: database.prepare(`${CHECKOUT} AND c.id < ? AND COALESCE(c.action, 'NOT_JUDGED') LIKE ? ${NEWEST_FIRST}`),
    find: database.prepare(`${CHECKOUT} AND c.id = ?`),
    from: database.prepare(`${CHECKOUT} AND c.device_id = ? ${NEWEST_FIRST}`),
    later: database.prepare(`SELECT asked_at AS "askedAt", asked_by AS "askedBy", sealed FROM later_judgements
      WHERE checkout = ? AND sealed IS NOT NULL ORDER BY number`),
    claim: database.prepare(`INSERT INTO later_judgements (checkout, number, asked_at, asked_by)
      SELECT ?, COUNT(*), ?, ? FROM later_judgements WHERE checkout = ? HAVING COUNT(*) < ${MAX_LATER_JUDGEMENTS}
      RETURNING number`),
    store: database.prepare('UPDATE later_judgements SET sealed = ? WHERE checkout = ? AND number = ?'),
  };
  // The columns are named like the fields, and the tables hold nothing that was not inserted by this service.
  const find = (id: string) => statements.find.get(id) as Checkout | undefined;

  return {
    find,
    /** One page of all checkouts, newest first. */
    page({ first, after, decision }: PageArguments): { readonly items: Checkout[]; readonly next: string | null } {
      const limit = checkedLimit(first);
      if (after != null && !/^[0-9a-f-]{36}$/.test(after))
        throw badInput('after: expected the `next` of another page.');
      // One more than asked for shows whether another page follows.
      const found = statements.page.all(after ?? AFTER_ALL, decision ?? '%', limit + 1) as unknown as Checkout[];
      const items = found.slice(0, limit);
      return { items, next: found.length > limit ? (items.at(-1)?.id ?? null) : null };
    },
    /** The newest checkouts from this device. */
    from: (deviceId: string, first: number) =>
      statements.from.all(deviceId, checkedLimit(first)) as unknown as Checkout[],
    /** What was judged later, oldest first. */
    later: (id: string) => statements.later.all(id) as unknown as LaterJudgement[],
    /**
     * Judges the device of a checkout once more, and stores the judgement beside the first. Undefined if there is no such
     * checkout.
     *
     * @throws GraphQLError if there is no judgement; whether an event was made is then not always known
     */
    async judgeAgain(id: string, analystId: string): Promise<Checkout | undefined> {
      const checkout = find(id);
      if (!checkout) return undefined;
      const { deviceToken, customerId } = checkout;
      if (!judge || deviceToken === null) {
        throw failure('JUDGEMENT_IMPOSSIBLE', 'There is no token to ask with, so no event was made.', false);
      }
      // Counted before the question, so that no two analysts exceed the limit together.
      const claimed = statements.claim.get(id, Date.now(), analystId, id);
      if (!claimed) throw failure('JUDGEMENT_LIMIT', 'This was judged again as often as it can be.', false);
      const judgement = await judge(deviceToken, customerId, 'review').catch(() => {
        throw failure('JUDGEMENT_UNAVAILABLE', 'Device-trust gave no judgement. It may have made an event.', true);
      });
      if (!judgement) throw failure('DEVICE_TOKEN_REJECTED', 'The token is not one that can be judged.', false);
      statements.store.run(judgement.sealed, id, claimed['number'] ?? null);
      return checkout;
    },
  };
}

function checkedLimit(first: number): number {
  if (first < 1 || first > MAX_PAGE) throw badInput(`first: expected a number from 1 to ${MAX_PAGE}.`);
  return first;
}

const badInput = (message: string) => failure('BAD_USER_INPUT', message, false);

function failure(code: string, message: string, retryable: boolean): GraphQLError {
  return new GraphQLError(message, { extensions: { code, retryable } });
}
