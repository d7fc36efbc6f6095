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

/** Left to themselves the rules throw, which ends the validation, and call it a syntax error. */
function says(n: number, message: string) {
  const report = (context: ValidationContext | null) => context?.reportError(new GraphQLError(message));
  return { n, propagateOnRejection: false, onReject: [report] };
}
