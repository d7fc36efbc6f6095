import { CombinedGraphQLErrors, type ErrorLike, ServerError } from '@apollo/client';
import { make } from '../shop/dom.ts';

/** Why something could not be shown, and what a person can do about it, by the code of the error. */
const SENTENCES: Readonly<Record<string, string>> = {
  NO_ANSWER:
    'There was no answer: the gateway of the desk could not be reached, or took too long. Check your connection, and refresh.',
  FORBIDDEN:
    'You may not see this. It needs the scope risk:read, which your account does not have. Ask the risk team for it, and sign in again.',
  JUDGEMENT_UNREADABLE:
    'The record cannot be opened: it was altered, or the key that sealed it has been destroyed. Nothing was judged instead, and trying again does not help.',
};
const UNKNOWN =
  'A service behind the gateway failed. This is a fault on our side, and none of the customer. Try again; if it stays, tell the platform team the code.';

/** The code of what an operation failed with: ours of `extensions`, NO_ANSWER or UNAUTHENTICATED. */
export function codeOf(error: ErrorLike | undefined): string {
  if (ServerError.is(error) && error.statusCode === 401) return 'UNAUTHENTICATED';
  // Without GraphQL errors there was no answer of the gateway's at all.
  return CombinedGraphQLErrors.is(error) ? codeIn(error.errors[0]) : 'NO_ANSWER';
}

/** The code of what one field failed with; undefined if nothing is said about it. */
export function codeAt(error: ErrorLike | undefined, ...path: readonly (string | number)[]): string | undefined {
  if (!CombinedGraphQLErrors.is(error)) return undefined;
  const found = error.errors.find((one) => path.every((part, index) => one.path?.[index] === part));
  return found && codeIn(found);
}

function codeIn(error: CombinedGraphQLErrors['errors'][number] | undefined): string {
  return String(error?.extensions?.['code'] ?? 'NO_CODE');
}

export function troubleView(code: string): HTMLElement {
  const sentence = Object.hasOwn(SENTENCES, code) ? SENTENCES[code] : UNKNOWN;
  const panel = make('p', 'trouble', `${sentence} Code: `, make('code', '', code));
  panel.setAttribute('role', 'alert');
  return panel;
}
