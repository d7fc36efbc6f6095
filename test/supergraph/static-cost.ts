import {
  type DirectiveNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
} from 'graphql';

/**
 * The static cost of an operation by the rules that Apollo documents for its router (Demand Control, Calculating cost), which
 * Hive Router and Cosmo follow: the sum over the requests to subgraphs. An object, interface or union costs 1, or its `@cost`,
 * or that of the field; anything else nothing; a list as many times that and all below it as `@listSize` or the setting says.
 * Arguments are left out, because the operations here have no input objects. References cost 1 each, as a list of a union.
 */
export function costOfRequest(schema: GraphQLSchema, text: string, listSize: number): number {
  const { definitions } = parse(text);
  const operation = definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  );
  const query = schema.getQueryType();
  if (operation?.operation !== 'query' || !query) throw new Error(`expected a query, but got: ${text}`);

  function costOf({ selections }: SelectionSetNode, parent: GraphQLNamedType): number {
    return selections
      .map((selection) => {
        if (selection.kind === Kind.FRAGMENT_SPREAD) throw new Error('expected inline fragments, as planners send');
        if (selection.kind === Kind.INLINE_FRAGMENT) {
          const type = schema.getType(selection.typeCondition?.name.value ?? parent.name);
          return costOf(selection.selectionSet, type ?? parent);
        }
        const name = selection.name.value;
        const below = (type: GraphQLNamedType) => (selection.selectionSet ? costOf(selection.selectionSet, type) : 0);
        if (name === '__typename') return 0;
        if (name === '_entities') return listSize * (1 + below(query ?? parent));
        const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined;
        if (!field) throw new Error(`expected a field of ${parent.name}, but got ${name}`);
        const type = getNamedType(field.type);
        const directives = field.astNode?.directives;
        const weight = numberIn(directives, 'cost') ?? numberIn(type.astNode?.directives, 'cost');
        const items = isListType(getNullableType(field.type)) ? (numberIn(directives, 'listSize') ?? listSize) : 1;
        return items * ((weight ?? (isCompositeType(type) ? 1 : 0)) + below(type));
      })
      .reduce((sum, cost) => sum + cost, 0);
  }
  return costOf(operation.selectionSet, query);
}

/** The one number that a directive says. */
function numberIn(directives: readonly DirectiveNode[] = [], name: string): number | undefined {
  const value = directives.find((directive) => directive.name.value === name)?.arguments?.[0]?.value;
  return value?.kind === Kind.INT ? Number(value.value) : undefined;
}
