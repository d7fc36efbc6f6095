import { type DocumentNode, type GraphQLSchema, type OperationDefinitionNode, visit } from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import type { OperationCost } from './cost.ts';

/** Compiling takes about 60 µs for each field and blocks the event loop. The cost counts each field, in fragments as well. */
const MAX_COST = 500;

/** An operation that may be compiled. */
interface Candidate {
  readonly document: DocumentNode;
  readonly definition: OperationDefinitionNode;
  readonly cost: OperationCost;
}

/**
 * Would graphql-jit answer this operation as graphql-js does? It is used for what it certainly does alike, which are the plain
 * queries that routers send:
 *
 * - Mutations are left to graphql-js, because graphql-jit keeps everything about them in memory until a full garbage collection.
 * - Of several fields that set their parent to null, graphql-js reports the first one, and graphql-jit all of them. A single
 *   root field has no such neighbours.
 * - Directives change the order of the fields of its answers.
 * - A default of a variable can turn out to be wrong only while the operation is executed.
 * - It can lose a variable inside the literal of an object or a list.
 * - Names that every object has, such as `constructor`, are not names to it.
 */
export function canBeCompiled({ document, definition, cost }: Candidate): boolean {
  const size = cost.variables.reduce((sum, { perReference }) => sum + perReference, cost.fixed);
  const [first, ...others] = definition.selectionSet.selections;
  const isSingle = first?.kind === 'Field' && others.length === 0;
  if (definition.operation !== 'query' || size > MAX_COST || !isSingle) return false;
  let isPlain = true;
  const exclude = () => {
    isPlain = false;
  };
  visit(document, {
    Directive: exclude,
    VariableDefinition: ({ variable, defaultValue }) => {
      if (defaultValue || variable.name.value in {}) exclude();
    },
    Field: ({ alias, name }) => {
      if ((alias ?? name).value in {}) exclude();
    },
    Variable: (_node, _key, parent) => {
      if (parent && !('kind' in parent && PARENTS_OF_VARIABLES.has(parent.kind))) exclude();
    },
  });
  return isPlain;
}

/** Within the literal of an object or a list, the parent of a variable is another one. */
const PARENTS_OF_VARIABLES: ReadonlySet<string> = new Set(['Argument', 'VariableDefinition']);

/** Compiles the operation of a valid document. Undefined if graphql-jit cannot. */
export function compile(schema: GraphQLSchema, document: DocumentNode): CompiledQuery['query'] | undefined {
  const compiled = compileQuery(schema, document, undefined, {
    disablingCapturingStackErrors: true,
    // Values of built-in scalars and enums need no check here: the upstream's were parsed, and the rest is ours. Our own
    // scalars are serialised all the same.
    disableLeafSerialization: true,
  });
  return isCompiledQuery(compiled) ? compiled.query : undefined;
}
