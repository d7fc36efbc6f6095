import { CombinedGraphQLErrors, type ErrorLike, ServerError } from '@apollo/client';

/** Why something could not be shown, for a person who can do something about it. */
export interface Trouble {
  readonly code: string;
  /** What happened. */
  readonly title: string;
  /** Whose side it is, and what to do. */
  readonly advice: string;
  /** Can the same question have an answer later? */
  readonly retry: boolean;
}

type Known = Omit<Trouble, 'code'>;

const NO_ANSWER: Known = {
  title: 'There was no answer.',
  advice:
    'The gateway of the desk could not be reached, or took too long. Check your connection. If others cannot reach it either, tell the platform team.',
  retry: true,
};
const UNKNOWN: Known = {
  title: 'A service behind the gateway failed.',
  advice:
    'This is a fault on our side, and none of the customer. Try again; if it stays, tell the platform team the code.',
  retry: true,
};
const KNOWN: Readonly<Record<string, Known>> = {
  FORBIDDEN: {
    title: 'You may not see this.',
    advice:
      'It needs the scope risk:read, which your account does not have. Ask whoever manages access at the risk team for it, and sign in again.',
    retry: false,
  },
  UNAUTHENTICATED: {
    title: 'You are not signed in any more.',
    advice: 'The session has ended. Sign in again.',
    retry: false,
  },
  JUDGEMENT_UNREADABLE: {
    title: 'The record cannot be opened.',
    advice:
      'It was altered, or the key that sealed it has been destroyed, for example because it was kept long enough. Nothing was judged instead, and trying again does not help. If the record is recent, tell the platform team.',
    retry: false,
  },
  OVERLOADED: {
    title: 'The service is too busy.',
    advice: 'This is on our side. Try again in a moment.',
    retry: true,
  },
  BAD_USER_INPUT: {
    title: 'The question was not acceptable.',
    advice: 'The address of this page may be incomplete. Go back to the checkouts and open it from there.',
    retry: false,
  },
  DEVICE_TOKEN_REJECTED: {
    title: 'The fingerprint service does not accept the token.',
    advice: 'It is not a token that the service issued, so this device can never be judged by it.',
    retry: false,
  },
  JUDGEMENT_UNAVAILABLE: {
    title: 'There is no new judgement.',
    advice:
      'The fingerprint service or device-trust did not answer as they should. Asking again is a further event, and this one may be billed as well.',
    retry: false,
  },
  JUDGEMENT_LIMIT: {
    title: 'This was asked as often as it can be.',
    advice: 'A checkout has at most 20 later judgements. No event was made.',
    retry: false,
  },
  JUDGEMENT_IMPOSSIBLE: {
    title: 'There is nothing to ask with.',
    advice: 'The order service has no token of this device any more. No event was made.',
    retry: false,
  },
};

/** Explains what an operation failed with. */
export function troubleOf(error: ErrorLike | undefined): Trouble {
  if (ServerError.is(error) && error.statusCode === 401) return explain('UNAUTHENTICATED');
  // Without GraphQL errors there was no answer of the gateway's at all.
  if (!CombinedGraphQLErrors.is(error)) return { code: 'NO_ANSWER', ...NO_ANSWER };
  return explain(codeOf(error.errors[0]));
}

/** Explains what one field failed with; undefined if nothing is said about it. */
export function troubleAt(error: ErrorLike | undefined, path: readonly (string | number)[]): Trouble | undefined {
  if (!CombinedGraphQLErrors.is(error)) return undefined;
  const found = error.errors.find((one) => path.every((part, index) => one.path?.[index] === part));
  return found && explain(codeOf(found));
}

type GraphqlError = CombinedGraphQLErrors['errors'][number];

function codeOf(error: GraphqlError | undefined): string {
  const code = error?.extensions?.['code'];
  return typeof code === 'string' ? code : 'NO_CODE';
}

function explain(code: string): Trouble {
  return { code, ...((Object.hasOwn(KNOWN, code) ? KNOWN[code] : undefined) ?? UNKNOWN) };
}
