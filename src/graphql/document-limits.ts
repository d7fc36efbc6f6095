import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives';
import { GraphQLError, type ValidationContext, type ValidationRule } from 'graphql';
import { DeviceTrustError } from '../errors.ts';

/** Lexical tokens, at which the parser ends. Everything about a device has some 300. */
export const MAX_TOKENS = 2_000;
/** Levels. Everything about a device is seven deep, each named fragment on the way counts as one more, and tools ask for the schema. */
const MAX_DEPTH = 12;
/** Aliases in an operation: as many as a request may make fingerprint calls by default. */
const MAX_ALIASES = 100;
/** Directives in an operation. Clients write a few. */
const MAX_DIRECTIVES = 50;

/** Validation rules that refuse a document beyond a limit, each with a message that names the limit. */
export const DOCUMENT_LIMITS: readonly ValidationRule[] = [
  maxDepthRule(limit(MAX_DEPTH, `The document is more than ${MAX_DEPTH} levels deep.`)),
  maxAliasesRule(limit(MAX_ALIASES, `The document has more than ${MAX_ALIASES} aliases.`)),
  maxDirectivesRule(limit(MAX_DIRECTIVES, `The document has more than ${MAX_DIRECTIVES} directives.`)),
];

/** The rules would throw by default. That would end the validation, and the error would count as a syntax error. */
function limit(n: number, message: string) {
  const report = (context: ValidationContext | null) => context?.reportError(new GraphQLError(message));
  return { n, propagateOnRejection: false, onReject: [report] };
}

/** graphql-js counts the lines before each place that an error names, so the time for errors grows with the lines. */
const MAX_BYTES = 65_536;
const MAX_LINES = 2_000;
const LINE_END = /\r\n|[\n\r]/;
/** graphql-js compares fragments in pairs, and some hundreds overflow its stack. */
const MAX_FRAGMENTS = 50;

/**
 * Why a document must not even be parsed; undefined if it may be. No client's comes near these limits. It counts the word in the
 * text, so a document that has `fragment` in its strings that often is refused as well.
 */
export function refusalOfDocument(source: string): DeviceTrustError | undefined {
  if (Buffer.byteLength(source) > MAX_BYTES || hasMore(source, LINE_END, MAX_LINES - 1)) {
    const message = `The document has more than 64 KiB or ${MAX_LINES} lines.`;
    return new DeviceTrustError('GRAPHQL_PARSE_FAILED', { message });
  }
  if (!hasMore(source, /\bfragment\b/, MAX_FRAGMENTS)) return undefined;
  const message = `The document has more than ${MAX_FRAGMENTS} fragments.`;
  return new DeviceTrustError('GRAPHQL_VALIDATION_FAILED', { message });
}

/** What a token of a document takes once it is parsed, in bytes: up to this, because its place is kept for errors. */
const BYTES_PER_TOKEN = 480;

/** What a document takes once it is parsed, in bytes. */
export function weightOfDocument(source: string): number {
  return Math.min(source.match(/\w+|[^\s\w]/g)?.length ?? 0, MAX_TOKENS) * BYTES_PER_TOKEN;
}

/** Is this in the text more often? The second argument of `split` ends the search at the first one too many. */
function hasMore(text: string, mark: RegExp, most: number): boolean {
  return text.split(mark, most + 2).length > most + 1;
}
