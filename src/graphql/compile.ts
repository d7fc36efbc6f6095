import {
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLError,
  type GraphQLSchema,
  isInputType,
  type OperationDefinitionNode,
  type SourceLocation,
  typeFromAST,
  visit,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { repeatsUnderConditions } from './compile-conditions.ts';
import { withoutQueue } from './compile-mutation.ts';
import type { GraphQLContext } from './context.ts';
import { costOf, type OperationCost } from './cost.ts';
import { type InputCheck, inputCheckOf } from './input-check.ts';
import { kindOf, type OperationKind } from './operation-kind.ts';
import { executeEntities } from './shared-entities.ts';

/** An operation of a valid document as compiled code. */
export interface CompiledOperation {
  readonly kind: OperationKind;
  readonly cost: OperationCost;
  /** Runs the operation. Undefined if the variables do not fit their types: nothing was executed then. */
  readonly execute: (
    context: GraphQLContext,
    variables: Readonly<Record<string, unknown>>,
  ) => Promise<ExecutionResult | undefined>;
}

/** Compiles the operation of a valid document. Undefined if compiled code could answer it otherwise than graphql-js. */
export function compile(schema: GraphQLSchema, document: DocumentNode): CompiledOperation | undefined {
  // Routers and clients send one operation. With several, each request may name another one.
  const [operation, ...others] = document.definitions.filter((node) => node.kind === 'OperationDefinition');
  if (!operation || others.length > 0) return undefined;
  if (!canBeCompiled(document, operation) || repeatsUnderConditions(document, operation)) return undefined;
  const compilable = withoutQueue(schema, document, operation);
  const compiled = compileQuery(compilable.schema, compilable.document, operation.name?.value, {
    disablingCapturingStackErrors: true,
    // Values of built-in scalars and enums need no check here: the upstream's were parsed, and the rest is ours. Our own
    // scalars are serialised all the same.
    disableLeafSerialization: true,
  });
  if (!isCompiledQuery(compiled)) return undefined;
  const areValid = variableCheckOf(schema, operation);
  const withNodes = errorLocatorOf(document);
  const entitiesName = entitiesNameOf(operation);
  return {
    kind: kindOf(document, operation),
    cost: costOf(schema, document, operation),
    execute: async (context, variables) => {
      // graphql-jit accepts some values that GraphQL refuses, such as a list for an input object.
      if (!areValid(variables)) return undefined;
      const result = await (entitiesName === undefined
        ? compiled.query(undefined, context, variables)
        : executeEntities(compiled.query, entitiesName, context, variables));
      // A result without data means that nothing was executed.
      if (!('data' in result)) return undefined;
      return result.errors ? { data: result.data, errors: result.errors.map(withNodes) } : result;
    },
  };
}

/** The name that the answer gives to `_entities`, which `canBeCompiled` accepts only as the one field of an operation. */
function entitiesNameOf({ selectionSet }: OperationDefinitionNode): string | undefined {
  const [field] = selectionSet.selections;
  return field?.kind === 'Field' && field.name.value === '_entities' ? (field.alias ?? field.name).value : undefined;
}

/** graphql-jit's errors carry only locations. This adds the fields at these locations, which the log names. */
function errorLocatorOf(document: DocumentNode) {
  const fields = new Map<string, FieldNode>();
  const keyOf = ({ line, column }: SourceLocation) => `${line}:${column}`;
  visit(document, { Field: (node) => void (node.loc && fields.set(keyOf(node.loc.startToken), node)) });
  // The error is completed in place, because making another one takes as long as ten fields.
  return (error: GraphQLError) =>
    Object.assign(error, { nodes: error.locations?.flatMap((location) => fields.get(keyOf(location)) ?? []) });
}

/** Makes the check whether the variables of a request fit their types. */
function variableCheckOf(schema: GraphQLSchema, { variableDefinitions = [] }: OperationDefinitionNode) {
  const checks = variableDefinitions.map(({ variable, type }): [string, InputCheck] => {
    const inputType = typeFromAST(schema, type);
    return [variable.name.value, isInputType(inputType) ? inputCheckOf(inputType) : () => false];
  });
  return (variables: Readonly<Record<string, unknown>>) => checks.every(([name, isValid]) => isValid(variables[name]));
}

/**
 * Would compiled code answer this operation as graphql-js does? There are four cases in which it may not:
 *
 * - A variable has a default. Such a value can turn out to be wrong only while the operation is executed.
 * - A name is one that every object has, such as `constructor`.
 * - A variable stands inside the literal of an object or a list, where graphql-jit can lose it.
 * - Several fields can set their parent to null. graphql-js reports the first such error, and graphql-jit all of them. In
 *   our schema this is `_entities` with an answer that costs too much.
 */
function canBeCompiled(
  document: DocumentNode,
  { variableDefinitions = [], selectionSet }: OperationDefinitionNode,
): boolean {
  const [first, ...others] = selectionSet.selections;
  const isAlone = first?.kind === 'Field' && others.length === 0;
  let isSame = variableDefinitions.every(({ variable, defaultValue }) => !defaultValue && !(variable.name.value in {}));
  let nesting = 0;
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
      if (nesting > 0) isSame = false;
    },
    Field({ alias, name }) {
      if ((alias ?? name).value in {}) isSame = false;
      if (name.value === '_entities' && !isAlone) isSame = false;
    },
  });
  return isSame;
}
