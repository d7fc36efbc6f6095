import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases';
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth';
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives';
import { GraphQLError, type ValidationContext, type ValidationRule } from 'graphql';

/** How much one document may ask, beside its number of tokens, which the parser counts. */
export interface DocumentLimits {
  readonly depth: number;
  readonly aliases: number;
  readonly directives: number;
}

/** Validation rules that refuse a document beyond a limit, each with a message that says which. */
export function documentLimits({ depth, aliases, directives }: DocumentLimits): ValidationRule[] {
  return [
    maxDepthRule(says(depth, `The document is more than ${depth} levels deep.`)),
    maxAliasesRule(says(aliases, `The document has more than ${aliases} aliases.`)),
    maxDirectivesRule(says(directives, `The document has more than ${directives} directives.`)),
  ];
}

/** No client's document comes near it. graphql-js compares fragments in pairs, and some hundreds of them end its stack. */
const MAX_FRAGMENTS = 50;

/** What is wrong with a document that must not even be validated. An over-count, such as of a word in a text, is no matter. */
export function refusalOf(source: unknown): string | undefined {
  const words = typeof source === 'string' ? source.match(/\bfragment\b/g) : null;
  return words && words.length > MAX_FRAGMENTS ? `The document has more than ${MAX_FRAGMENTS} fragments.` : undefined;
}

/** Left to themselves the rules throw, which ends the validation, and call it a syntax error. */
function says(n: number, message: string) {
  const report = (context: ValidationContext | null) => context?.reportError(new GraphQLError(message));
  return { n, propagateOnRejection: false, onReject: [report] };
}
