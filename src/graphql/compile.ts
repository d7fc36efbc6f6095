import {
  type DocumentNode,
  GraphQLSchema,
  isEnumType,
  type OperationDefinitionNode,
  OperationTypeNode,
  type ValueNode,
  visit,
} from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import type { OperationCost } from './cost.ts';

/** Compiling blocks for 60 µs a field, and the code takes 5 KB a field once it is in use. All fields of a reference cost 107. */
const MAX_COST = 250;
const MAX_CHARACTERS = 8_192;

interface Candidate {
  readonly document: DocumentNode;
  readonly definition: OperationDefinitionNode;
  readonly cost: OperationCost;
}

/**
 * Would graphql-jit answer this operation as graphql-js does? Yes for the plain operations that routers send. They have
 *
 * - one root field: if several fields set their parent to null, graphql-js reports the first, and graphql-jit all of them;
 * - no directive: graphql-jit answers with the fields in another order;
 * - no default of a variable: a wrong default shows only while the operation is executed;
 * - no text, list or object as a literal, and no unknown enum value: graphql-jit writes literals into its code, where a
 *   caller's text could run, and can lose a variable inside a literal;
 * - no alias but that of the root field, in letters and digits: graphql-jit writes aliases into its code, and confuses two
 *   paths that are equal when joined by `_`;
 * - no name that every object has, such as `constructor`: graphql-jit fails at such a name;
 * - no fragment that is spread twice: graphql-jit inlines fragments, so the code could double with each fragment.
 */
export function canBeCompiled(schema: GraphQLSchema, { document, definition, cost }: Candidate): boolean {
  const size = cost.variables.reduce((sum, { perReference }) => sum + perReference, cost.fixed);
  const [first, ...others] = definition.selectionSet.selections;
  const isSingle = first?.kind === 'Field' && others.length === 0;
  if (size > MAX_COST || !isSingle || (document.loc?.end ?? 0) > MAX_CHARACTERS) return false;
  let isPlain = true;
  const spread = new Set<string>();
  const requirePlain = (condition: boolean) => {
    isPlain &&= condition;
  };
  visit(document, {
    Directive: () => requirePlain(false),
    VariableDefinition: ({ variable, defaultValue }) => requirePlain(!defaultValue && !(variable.name.value in {})),
    Field: (node) => {
      const name = node.alias?.value;
      requirePlain(name === undefined || (node === first && PLAIN_ALIAS.test(name) && !(name in {})));
    },
    FragmentSpread: ({ name }) => {
      requirePlain(!spread.has(name.value));
      spread.add(name.value);
    },
    Argument: ({ value }) => requirePlain(isPlainValue(value, schema)),
  });
  return isPlain;
}

const PLAIN_ALIAS = /^[a-z\d]+$/i;

/** Is this argument a variable, a number, a boolean, or an enum value of the schema? */
function isPlainValue(value: ValueNode, schema: GraphQLSchema): boolean {
  if (value.kind !== 'EnumValue') return PLAIN_VALUES.has(value.kind);
  return Object.values(schema.getTypeMap()).some((type) => isEnumType(type) && type.getValue(value.value));
}
const PLAIN_VALUES = new Set<string>(['Variable', 'IntValue', 'FloatValue', 'BooleanValue']);

/** Compiles a mutation as a query: graphql-jit's queue for mutations keeps a request in memory until a full garbage collection. */
export function compile(schema: GraphQLSchema, { document, definition }: Candidate) {
  const isQuery = definition.operation === 'query';
  const asQuery = { OperationDefinition: (node: object) => ({ ...node, operation: OperationTypeNode.QUERY }) };
  const compiled = compileQuery(isQuery ? schema : mutationsAsQueries(schema), visit(document, asQuery), undefined, {
    disablingCapturingStackErrors: true,
    // Built-in scalars and enums need no check, because upstream values were parsed. Our own scalars are serialised all the same.
    disableLeafSerialization: true,
  });
  return isCompiledQuery(compiled) ? compiled.query : undefined;
}

const convertedSchemas = new WeakMap<GraphQLSchema, GraphQLSchema>();

function mutationsAsQueries(schema: GraphQLSchema): GraphQLSchema {
  const converted =
    convertedSchemas.get(schema) ??
    new GraphQLSchema({ ...schema.toConfig(), query: schema.getMutationType(), mutation: null });
  convertedSchemas.set(schema, converted);
  return converted;
}
