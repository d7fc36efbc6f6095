import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  GraphQLError,
  type GraphQLSchema,
  isInputType,
  type OperationDefinitionNode,
  type SourceLocation,
  typeFromAST,
  visit,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { repeatsUnderConditions } from './compile-conditions.ts';
import type { GraphQLContext } from './context.ts';
import { type Fits, fitterOf } from './input-check.ts';

/** Runs an operation. Undefined if its variables do not fit; nothing was executed then. */
type Execute = (
  context: GraphQLContext,
  variables: Readonly<Record<string, unknown>>,
) => Promise<ExecutionResult | undefined>;

/** An operation that is known to be valid, as code of its own. */
export interface CompiledOperation {
  readonly name: string | undefined;
  readonly execute: Execute;
}

/** Code for a valid document; undefined where it could come to another answer than graphql-js: the slow way is always right. */
export function compile(schema: GraphQLSchema, document: DocumentNode): CompiledOperation | undefined {
  // Routers and clients send one operation. Which of several is meant may change with each request.
  const [operation, ...others] = document.definitions.filter((node) => node.kind === 'OperationDefinition');
  if (!operation || others.length > 0) return undefined;
  if (!isPlain(document, operation) || repeatsUnderConditions(document, operation)) return undefined;
  const compiled = compileQuery(schema, document, operation.name?.value, {
    disablingCapturingStackErrors: true,
    // Built-in scalars and enums are right when they get here: answers were parsed, the rest is ours. Our own scalars are
    // written as ever.
    disableLeafSerialization: true,
  });
  if (!isCompiledQuery(compiled)) return undefined;
  const areFit = checkerOf(schema, operation);
  const located = locatorOf(document);
  return {
    name: operation.name?.value,
    execute: async (context, variables) => {
      // graphql-jit takes some values that GraphQL does not, such as a list where an input object is due.
      if (!areFit(variables)) return undefined;
      const result = await compiled.query(undefined, context, variables);
      // Without data it did not come to an execution.
      if (!('data' in result)) return undefined;
      return result.errors ? { data: result.data, errors: result.errors.map(located) } : result;
    },
  };
}

/** graphql-jit's errors only carry locations. This adds the fields that stand there, by which the log names what failed. */
function locatorOf(document: DocumentNode) {
  const fields = new Map<string, FieldNode>();
  const keyOf = ({ line, column }: SourceLocation) => `${line}:${column}`;
  visit(document, { Field: (node) => void (node.loc && fields.set(keyOf(node.loc.startToken), node)) });
  return ({ message, locations = [], path, originalError }: GraphQLError) =>
    new GraphQLError(message, {
      nodes: locations.flatMap((location) => fields.get(keyOf(location)) ?? []),
      path,
      originalError,
    });
}

/** Makes the check whether variables fit their types. */
function checkerOf(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode) {
  const fitters = variableDefinitions.map(({ variable, type }): [string, Fits] => {
    const inputType = typeFromAST(schema, type);
    return [variable.name.value, isInputType(inputType) ? fitterOf(inputType) : () => false];
  });
  return (variables: Readonly<Record<string, unknown>>) => fitters.every(([name, fits]) => fits(variables[name]));
}

/**
 * Would compiled code answer this as graphql-js does? Not if a variable has a default, which can turn out wrong only while
 * the operation is executed; nor if a name is one that every object has; nor if a variable stands inside the literal of an
 * object or a list, where graphql-jit can lose it; nor if several fields can take their parent along, for graphql-js tells
 * the first such error and graphql-jit all: of ours these are `minConfidence`, and `_entities` with too many references.
 */
function isPlain(document: DocumentNode, { variableDefinitions = [], selectionSet }: OperationDefinitionNode): boolean {
  const [first, ...others] = selectionSet.selections;
  const isAlone = first?.kind === 'Field' && others.length === 0;
  let isSafe = variableDefinitions.every(({ variable, defaultValue }) => !defaultValue && !(variable.name.value in {}));
  let nesting = 0;
  let filters = 0;
  const nested = {
    enter() {
      nesting += 1;
    },
    leave() {
      nesting -= 1;
    },
  };
  visit(document, {
    ObjectValue: nested,
    ListValue: nested,
    Variable() {
      if (nesting > 0) isSafe = false;
    },
    Field({ alias, name }) {
      if ((alias ?? name).value in {}) isSafe = false;
      if (name.value === '_entities' && !isAlone) isSafe = false;
    },
    Argument({ name }) {
      if (name.value === 'minConfidence') filters += 1;
    },
  });
  return isSafe && filters <= 1;
}
