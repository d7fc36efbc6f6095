import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives';
import { GraphQLError, type ValidationContext, type ValidationRule } from 'graphql';
import { ERROR_CATALOGUE } from '../errors.ts';
import type { EventLoopMonitor } from '../runtime/event-loop.ts';
import { RequestRefused } from './refusal.ts';

/** How much one document may ask. The parser counts its tokens. */
export interface DocumentLimits {
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxDirectives: number;
}

/** Validation rules that refuse a document beyond a limit, each with a message that names the limit. */
export function documentLimits({ maxDepth, maxAliases, maxDirectives }: DocumentLimits): ValidationRule[] {
  return [
    maxDepthRule(limit(maxDepth, `The document is more than ${maxDepth} levels deep.`)),
    maxAliasesRule(limit(maxAliases, `The document has more than ${maxAliases} aliases.`)),
    maxDirectivesRule(limit(maxDirectives, `The document has more than ${maxDirectives} directives.`)),
  ];
}

/** The rules would throw by default. That would end the validation, and the error would count as a syntax error. */
function limit(n: number, message: string) {
  const report = (context: ValidationContext | null) => context?.reportError(new GraphQLError(message));
  return { n, propagateOnRejection: false, onReject: [report] };
}

/** No client's document comes near this. graphql-js compares fragments in pairs, and some hundreds overflow its stack. */
const MAX_FRAGMENTS = 50;

/**
 * The reason why a document must not even be validated; undefined if it may be. It counts the word `fragment` without
 * parsing, so a document that has the word in its strings more than 50 times is refused as well.
 */
export function refusalOfDocument(source: unknown): string | undefined {
  const words = typeof source === 'string' ? source.match(/\bfragment\b/g) : null;
  return words && words.length > MAX_FRAGMENTS ? `The document has more than ${MAX_FRAGMENTS} fragments.` : undefined;
}

/**
 * Refuses new work while the event loop is late.
 *
 * @throws RequestRefused with status 503
 */
export function refuseUnderLoad(eventLoop: Pick<EventLoopMonitor, 'isOverloaded'>, maxDelayMs: number): void {
  if (!eventLoop.isOverloaded(maxDelayMs)) return;
  throw new RequestRefused(503, ERROR_CATALOGUE.OVERLOADED.message, { 'retry-after': '1' }, 'OVERLOADED');
}
