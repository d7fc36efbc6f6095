import { CombinedGraphQLErrors, type ErrorLike } from '@apollo/client';
import { make } from './dom.ts';

/** Shows why there is no answer, and whether the same question can have one later. */
export function failureView(error: ErrorLike | undefined): HTMLElement {
  // Without GraphQL errors there was no answer of the gateway's at all.
  const failures = CombinedGraphQLErrors.is(error)
    ? error.errors.map(({ message, extensions }) => ({ message, ...extensions }))
    : [{ message: 'The gateway gave no usable answer.', code: 'No answer' }];
  return make('ul', 'failures', ...failures.map(failureItem));
}

interface Failure {
  readonly message: string;
  readonly code?: unknown;
  readonly retryable?: unknown;
}

function failureItem({ message, code, retryable }: Failure): HTMLElement {
  const name = typeof code === 'string' ? code : 'No code';
  return make('li', '', make('strong', 'code', name), make('p', '', message), make('p', '', adviceOn(retryable)));
}

function adviceOn(retryable: unknown): string {
  if (retryable === true) return 'Trying the same again later can help.';
  if (retryable === false) return 'Trying the same again does not help.';
  return 'Nobody said whether trying again can help.';
}
