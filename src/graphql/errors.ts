import type { GraphQLFormattedError } from 'graphql';
import { GraphQLError, Kind } from 'graphql';
import type { Logger } from 'pino';
import { DeviceTrustError, ERROR_CATALOGUE, type ErrorCode, isErrorCode } from '../errors.ts';

/** What a caller may read of an error, and, for what concerns the operator, a line in the log. */
export function createErrorFormatter(log: Pick<Logger, 'warn' | 'error'>) {
  return (formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError => {
    const original = rootOf(error);
    if (original instanceof DeviceTrustError) {
      const { code, internal, message } = original;
      if (ERROR_CATALOGUE[code].side !== 'caller') log.warn({ code, internal, field: fieldOf(error) }, message);
      return { ...formatted, message };
    }
    const code = codeOf(formatted);
    const { retryable, message } = ERROR_CATALOGUE[code];
    if (code === 'INTERNAL_SERVER_ERROR') {
      log.error({ code, field: fieldOf(error), error: framesOf(original) }, message);
    }
    return {
      ...formatted,
      message: isSafe(code, error) ? formatted.message : message,
      extensions: { code, retryable },
    };
  };
}

/** graphql-js wraps what a resolver throws, once for each level it passes. */
function rootOf(error: unknown): unknown {
  let root = error;
  while (root instanceof GraphQLError && !(root instanceof DeviceTrustError) && root.originalError) {
    root = root.originalError;
  }
  return root;
}

/** The field that failed, by its name in the schema: the path of an error has the caller's aliases in it. */
function fieldOf(error: unknown): string | undefined {
  const [node] = (error instanceof GraphQLError && error.nodes) || [];
  return node?.kind === Kind.FIELD ? node.name.value : undefined;
}

function codeOf({ extensions }: GraphQLFormattedError): ErrorCode {
  const code = extensions?.['code'];
  return isErrorCode(code) ? code : 'INTERNAL_SERVER_ERROR';
}

/**
 * May graphql-js's own words go out? Only about the document's structure: names of the schema and where they do not fit.
 * What it says of a value in the document quotes that value, and a syntax error quotes what it stumbled over.
 */
function isSafe(code: ErrorCode, error: unknown): boolean {
  if (code !== 'GRAPHQL_VALIDATION_FAILED' || !(error instanceof GraphQLError)) return false;
  return !error.nodes?.some(({ kind }) => kind.endsWith('Value'));
}

/** Where an unexpected error came from. Its message is left out: it may quote what a caller or an upstream sent. */
export function framesOf(error: unknown): { name: string; frames: string[] } | { name: 'not an Error' } {
  if (!(error instanceof Error)) return { name: 'not an Error' };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  return { name: error.name, frames: frames.map((line) => line.trim()) };
}
