import { type DocumentNode, GraphQLSchema, Kind, type OperationDefinitionNode, OperationTypeNode } from 'graphql';

/** What graphql-jit is given to compile. */
interface Compilable {
  readonly schema: GraphQLSchema;
  readonly document: DocumentNode;
}

/** Each schema with its mutations as queries, which is made once. */
const asQueries = new WeakMap<GraphQLSchema, GraphQLSchema>();

/**
 * A mutation of one field as a query of the same field. graphql-jit executes the fields of a mutation one after another by a
 * queue, and the queue keeps everything about a request in memory until the next full garbage collection. That is a fourth of
 * what a captcha costs, and a single field needs no order. Any other operation is given back as it is.
 */
export function withoutQueue(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Compilable {
  const [first, ...others] = operation.selectionSet.selections;
  const isSingle = first?.kind === Kind.FIELD && others.length === 0;
  if (operation.operation !== 'mutation' || !isSingle) return { schema, document };
  const query = { ...operation, operation: OperationTypeNode.QUERY };
  const definitions = document.definitions.map((definition) => (definition === operation ? query : definition));
  return { schema: mutationsAsQueries(schema), document: { ...document, definitions } };
}

function mutationsAsQueries(schema: GraphQLSchema): GraphQLSchema {
  const known = asQueries.get(schema);
  if (known) return known;
  const made = new GraphQLSchema({ ...schema.toConfig(), query: schema.getMutationType(), mutation: null });
  asQueries.set(schema, made);
  return made;
}
