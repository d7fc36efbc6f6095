import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  type SelectionSetNode,
} from 'graphql';

/** The part of a resolver's `info` that describes its valid document. */
export type DocumentInfo = Pick<GraphQLResolveInfo, 'schema' | 'fragments'>;

/** The fields that a selection set selects on an object of this type, with fragments expanded. */
export function fieldsOf(selections: SelectionSetNode, type: GraphQLObjectType, info: DocumentInfo): FieldNode[] {
  const fields: FieldNode[] = [];
  const spread = new Set<string>();
  function collect({ selections: nodes }: SelectionSetNode): void {
    for (const node of nodes) {
      if (node.kind === Kind.FIELD) {
        fields.push(node);
        continue;
      }
      if (node.kind === Kind.FRAGMENT_SPREAD) {
        // As in an execution, a fragment counts once for each object.
        if (spread.has(node.name.value)) continue;
        spread.add(node.name.value);
      }
      const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : info.fragments[node.name.value];
      if (fragment && isOn(fragment.typeCondition?.name.value, type, info.schema)) collect(fragment.selectionSet);
    }
  }
  collect(selections);
  return fields;
}

function isOn(condition: string | undefined, type: GraphQLObjectType, schema: GraphQLSchema): boolean {
  if (condition === undefined || condition === type.name) return true;
  const abstract = schema.getType(condition);
  return isAbstractType(abstract) && schema.isSubType(abstract, type);
}
