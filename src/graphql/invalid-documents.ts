import type { GraphQLFormattedError } from 'graphql';
import { LRUCache } from 'lru-cache';
import { ENTRY_BYTES, MAX_CHARACTERS, sizeOfText } from './document-size.ts';

/** The response to a document that is refused whatever its variables are, because it does not fit the schema for example. */
interface Response {
  readonly status: number;
  readonly errors: readonly GraphQLFormattedError[];
}

/** For which names of an operation a document is refused: for this one, for none if there is none, or for all. */
type RefusedFor = string | undefined | typeof ANY_NAME;

export const ANY_NAME = Symbol('any name');

/** The responses to documents that are refused, by their source text. */
export interface InvalidDocuments {
  find(source: string, operationName: string | undefined): Response | undefined;
  add(source: string, refusedFor: RefusedFor, response: Response): void;
}

/** Size of the cache in bytes. It is apart from valid documents, because an attacker can make up any number of others. */
const MAX_BYTES = 2 * 1024 * 1024;

/** An empty cache. */
export function createInvalidDocuments(): InvalidDocuments {
  const cache = new LRUCache<string, Response & { readonly refusedFor: RefusedFor }>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ errors, refusedFor }, source) =>
      ENTRY_BYTES +
      sizeOfText(source) +
      sizeOfText(typeof refusedFor === 'string' ? refusedFor : '') +
      sizeOfText(JSON.stringify(errors)),
  });
  return {
    find: (source, operationName) => {
      const found = cache.get(source);
      return found?.refusedFor === ANY_NAME || found?.refusedFor === operationName ? found : undefined;
    },
    add: (source, refusedFor, response) => {
      if (source.length <= MAX_CHARACTERS) cache.set(source, { ...response, refusedFor });
    },
  };
}
