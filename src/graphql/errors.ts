import type { ASTNode, ASTVisitor, GraphQLFormattedError, ValidationContext } from 'graphql';
import { GraphQLError, getNamedType, isInputObjectType } from 'graphql';
import { DeviceTrustError, ERROR_CATALOGUE, type ErrorCode, framesOf, isErrorCode } from '../errors.ts';
import type { Operation } from '../observability/operation.ts';
import { expectationOf } from './variables.ts';

/** The errors of an answer. Apollo Server formats its own errors by `formatError` too. */
export function toErrors(errors: readonly GraphQLError[]): GraphQLFormattedError[] {
  return errors.map((error) => formatError(error.toJSON(), error));
}

/** An error as a caller may read it. */
export function formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const original = rootOf(error);
  if (original instanceof DeviceTrustError) return { ...formatted, message: original.message };
  const nodes = error instanceof GraphQLError ? (error.nodes ?? []) : undefined;
  const expected = nodes?.[0] && expectations.get(nodes[0]);
  const code = codeOf(formatted.extensions, original);
  const { retryable, message } = ERROR_CATALOGUE[code];
  // These messages of graphql-js quote no value: they are about the structure of the document, such as an unknown field.
  const isSafe = nodes && code === 'GRAPHQL_VALIDATION_FAILED' && !isAbout(nodes, /(?<!Object)Value$/);
  const shown = expected ?? (isSafe ? formatted.message : message);
  return { ...formatted, message: shown, extensions: { code, retryable } };
}

/** Records the sides that have to act. Logs each cause once, an unexpected error each time, and no mistake of a caller. */
export function reportErrors(operation: Operation, errors: readonly Error[]): void {
  const { requestId, field, log } = operation;
  const reported = new Set<string>();
  for (const error of errors) {
    const original = rootOf(error);
    if (original instanceof DeviceTrustError) {
      const { code, internal, side } = original;
      const cause = [code, internal, side].join('\n');
      if (reported.has(cause)) continue;
      reported.add(cause);
      operation.recordFailure(side);
      const usual = ERROR_CATALOGUE[code];
      // Log the catalogue's message, because the repeat limit counts by message; not if the catalogue names another side.
      const message = side === usual.side ? usual.message : original.message;
      if (side !== 'caller') log.warn({ requestId, code, internal, field }, message);
    } else {
      const code = codeOf(error instanceof GraphQLError ? error.extensions : undefined, original);
      const { side, message } = ERROR_CATALOGUE[code];
      operation.recordFailure(side);
      if (code === 'INTERNAL_SERVER_ERROR') log.error({ requestId, code, field, error: framesOf(original) }, message);
    }
  }
}

/** graphql-js wraps a resolver's error once for each level that it passes. */
function rootOf(error: unknown): unknown {
  let root = error;
  while (root instanceof GraphQLError && !(root instanceof DeviceTrustError) && root.originalError) {
    root = root.originalError;
  }
  return root;
}

function codeOf(extensions: GraphQLFormattedError['extensions'], original: unknown): ErrorCode {
  const code = extensions?.['code'];
  if (isErrorCode(code) && code !== 'INTERNAL_SERVER_ERROR') return code;
  // graphql-js refuses some values only while it executes, such as null for a variable with a default.
  const refused = original instanceof GraphQLError && isAbout(original.nodes, /Value$|^Variable$/);
  return refused ? 'BAD_USER_INPUT' : 'INTERNAL_SERVER_ERROR';
}

/** The message about each literal of a wrong type. graphql-js's own message quotes the literal unless it is an input object. */
const expectations = new WeakMap<ASTNode, string>();

/** Reports no error. It records the expected type of each literal, because a validation error carries only the literal. */
export function RememberExpectationsRule(context: ValidationContext): ASTVisitor {
  const remember = (name: string, node?: ASTNode): void => {
    const type = context.getInputType();
    if (!type || !node || (node.kind === 'ObjectValue' && isInputObjectType(getNamedType(type)))) return;
    if (node.kind !== 'Variable') expectations.set(node, `${name}: expected ${expectationOf(type)}.`);
    if (node.kind === 'ListValue') for (const item of node.values) remember(name, item);
  };
  return {
    Argument: ({ name, value }) => remember(name.value, value),
    ObjectField: ({ name, value }) => remember(name.value, value),
    VariableDefinition: ({ variable, defaultValue }) => remember(`$${variable.name.value}`, defaultValue),
  };
}

/** Does an error point at a node of this kind in the document? */
function isAbout(nodes: readonly ASTNode[] = [], kind: RegExp): boolean {
  return nodes.some((node) => kind.test(node.kind));
}
