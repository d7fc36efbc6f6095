import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isListType,
  isObjectType,
  Kind,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  TypeNameMetaFieldDef,
} from 'graphql';

/** What the selections of one valid document cost. A field costs 1, and each object that it returns costs 1. */
export interface SelectionCosts {
  /** The fields that a selection makes of an object of this type, fragments expanded. */
  fieldsOf(selections: SelectionSetNode, type: GraphQLObjectType): FieldNode[];
  /** A field with everything below it. A list has the size that `@listSize` assumes, or 1. */
  ofField(node: FieldNode, parent: GraphQLObjectType): number;
  /** One object that a field returns, without the field. Of several possible types the most expensive one counts. */
  ofObject(node: FieldNode, parent: GraphQLObjectType): number;
}

/**
 * Makes the costs of one document.
 *
 * @param fragments the document's fragments by name
 */
export function createSelectionCosts(
  schema: GraphQLSchema,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): SelectionCosts {
  /** The costs by selection and type. Without them, fragments that spread each other twice would double the work each level. */
  const known = new Map<SelectionSetNode, Map<string, number>>();

  function fieldsOf(selections: SelectionSetNode, type: GraphQLObjectType): FieldNode[] {
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
        const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments.get(node.name.value);
        if (fragment && isOn(fragment.typeCondition?.name.value, type)) collect(fragment.selectionSet);
      }
    }
    collect(selections);
    return fields;
  }

  function isOn(condition: string | undefined, type: GraphQLObjectType): boolean {
    if (condition === undefined || condition === type.name) return true;
    const abstract = schema.getType(condition);
    return isAbstractType(abstract) && schema.isSubType(abstract, type);
  }

  function ofSelections(selections: SelectionSetNode, type: GraphQLObjectType): number {
    const byType = known.get(selections) ?? new Map<string, number>();
    known.set(selections, byType);
    let cost = byType.get(type.name);
    if (cost === undefined) {
      cost = 0;
      for (const node of fieldsOf(selections, type)) cost += ofField(node, type);
      byType.set(type.name, cost);
    }
    return cost;
  }

  function ofObject(node: FieldNode, parent: GraphQLObjectType): number {
    const { selectionSet } = node;
    const type = getNamedType(definitionOf(node, parent)?.type);
    if (!selectionSet || !type) return 0;
    const types = isAbstractType(type) ? schema.getPossibleTypes(type) : isObjectType(type) ? [type] : [];
    return Math.max(0, ...types.map((possible) => ofSelections(selectionSet, possible)));
  }

  function ofField(node: FieldNode, parent: GraphQLObjectType): number {
    const definition = definitionOf(node, parent);
    if (!definition || !node.selectionSet) return 1;
    const size = isListType(getNullableType(definition.type)) ? assumedSizeOf(definition) : 1;
    return 1 + size * (1 + ofObject(node, parent));
  }

  return { fieldsOf, ofField, ofObject };
}

const META_FIELDS = new Map([SchemaMetaFieldDef, TypeMetaFieldDef, TypeNameMetaFieldDef].map((one) => [one.name, one]));

function definitionOf({ name }: FieldNode, parent: GraphQLObjectType): GraphQLField<unknown, unknown> | undefined {
  return parent.getFields()[name.value] ?? META_FIELDS.get(name.value);
}

/** The `assumedSize` of the field's `@listSize` in the SDL. */
function assumedSizeOf({ astNode }: GraphQLField<unknown, unknown>): number {
  const directive = astNode?.directives?.find(({ name }) => name.value === 'listSize');
  const size = directive?.arguments?.find(({ name }) => name.value === 'assumedSize')?.value;
  return size?.kind === Kind.INT ? Number(size.value) : 1;
}
