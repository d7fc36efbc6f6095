import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives';
import { GraphQLError, type ValidationContext, type ValidationRule } from 'graphql';
import type { EventLoopMonitor } from '../runtime/event-loop.ts';
import { overloaded } from './http.ts';

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

/** No client's document comes near these. */
const UNPARSED_LIMITS = [
  // graphql-js compares fragments in pairs, and some hundreds overflow its stack.
  { what: 'fragments', mark: /\bfragment\b/, most: 50 },
  // The parser keeps each comment and counts none: half a megabyte of them takes 30 MiB.
  { what: 'comments', mark: '#', most: 1_000 },
];

/**
 * The reason why a document must not even be parsed; undefined if it may be. It counts words and marks in the text, so a
 * document that has them in its strings that often is refused as well.
 */
export function refusalOfDocument(source: string): string | undefined {
  // The second argument ends the search at the first mark too many.
  const exceeded = UNPARSED_LIMITS.find(({ mark, most }) => source.split(mark, most + 2).length > most + 1);
  return exceeded && `The document has more than ${exceeded.most} ${exceeded.what}.`;
}

/** From which delay of the event loop on the process counts as overloaded, in ms. */
export interface LoadLimit {
  readonly eventLoop: Pick<EventLoopMonitor, 'isOverloaded'>;
  readonly maxEventLoopDelayMs: number;
}

/**
 * Refuses new work while the event loop is late.
 *
 * @throws RequestRefused with status 503
 */
export function refuseUnderLoad({ eventLoop, maxEventLoopDelayMs }: LoadLimit): void {
  if (eventLoop.isOverloaded(maxEventLoopDelayMs)) throw overloaded();
}
