import type { IncomingHttpHeaders } from 'node:http';
import type { FormattedExecutionResult } from 'graphql';
import type { CompiledOperation } from '../graphql/compile.ts';
import type { CompiledOperations } from '../graphql/document-cache.ts';

/** A request that compiled code can answer. */
export interface FastRequest {
  readonly operation: CompiledOperation;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly contentType: string;
}

/** Which requests can go the fast path. */
export interface FastPath {
  /** Undefined for everything out of the ordinary: Apollo Server answers that. */
  readonly match: (body: unknown, headers: IncomingHttpHeaders) => FastRequest | undefined;
  /** The content type with which Apollo Server answered a request with this `Accept` header. */
  readonly learnContentType: (accept: string | undefined, contentType: string) => void;
}

/** Callers write few different `Accept` headers; one more than this many, and all are learned anew. */
const MAX_ACCEPTS = 32;

/** Matches requests with what was compiled and learned. Nothing is known at first, so nothing goes this way. */
export function createFastPath(operations: CompiledOperations): FastPath {
  const contentTypes = new Map<string, string>();
  return {
    match: (body, headers) => {
      if (headers['apollo-federation-include-trace'] !== undefined) return undefined;
      const contentType = contentTypes.get(headers.accept ?? '');
      if (contentType === undefined || typeof body !== 'object' || body === null) return undefined;
      // Sound: an object can be asked for any property; each is checked before it is used.
      const { query, variables, operationName, extensions } = body as Record<string, unknown>;
      if (typeof query !== 'string' || extensions != null) return undefined;
      if (variables != null && (typeof variables !== 'object' || Array.isArray(variables))) return undefined;
      if (operationName != null && typeof operationName !== 'string') return undefined;
      const operation = operations.find(query, operationName ?? undefined);
      // Sound: an object that came as JSON and is no list.
      return operation && { operation, variables: (variables ?? {}) as Record<string, unknown>, contentType };
    },
    learnContentType: (accept = '', contentType) => {
      if (contentTypes.size >= MAX_ACCEPTS && !contentTypes.has(accept)) contentTypes.clear();
      contentTypes.set(accept, contentType);
    },
  };
}

/** An answer as Apollo Server would write it, but for the line feed that it ends with. */
export function serialize({ data, errors }: FormattedExecutionResult): string {
  return JSON.stringify(errors ? { errors, data } : { data });
}
