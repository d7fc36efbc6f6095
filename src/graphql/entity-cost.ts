import { type FieldNode, type GraphQLResolveInfo, getNullableType, isListType, isObjectType } from 'graphql';
import { createSelectionCosts } from './selection-cost.ts';

/** What an entity of one type costs: `fixed`, and for each item of one of its lists the cost under the list's name. */
interface EntityCost {
  readonly fixed: number;
  readonly perItem: ReadonlyMap<string, number>;
}

/** What a failed reference costs: its error took as long as some 60 fields on Node 24. */
const COST_OF_FAILURE = 60;

/** By the field of the document that asks for the entities, and by type. */
const known = new WeakMap<FieldNode, Map<string, EntityCost>>();

/**
 * What an entity costs in the answer to an `_entities` field, now that it is known: its lists may be longer than `@listSize`
 * assumes. An error costs as much as 60 fields.
 */
export function costOfEntity(entity: unknown, info: GraphQLResolveInfo): number {
  let cost = entity instanceof Error ? COST_OF_FAILURE : 1;
  // Sound: an object can be asked for any property, and each is checked before it is used.
  const fields = Object(entity) as Record<string, unknown>;
  const type = fields['__typename'];
  if (typeof type !== 'string') return cost;
  for (const node of info.fieldNodes) {
    const { fixed, perItem } = costOf(node, type, info);
    cost += fixed;
    for (const [name, each] of perItem) {
      const list = fields[name];
      if (Array.isArray(list)) cost += each * list.length;
    }
  }
  return cost;
}

function costOf(node: FieldNode, type: string, info: GraphQLResolveInfo): EntityCost {
  const byType = known.get(node) ?? new Map<string, EntityCost>();
  known.set(node, byType);
  const cost = byType.get(type) ?? compute(node, type, info);
  byType.set(type, cost);
  return cost;
}

function compute(node: FieldNode, name: string, { schema, fragments }: GraphQLResolveInfo): EntityCost {
  const type = schema.getType(name);
  const perItem = new Map<string, number>();
  if (!isObjectType(type) || !node.selectionSet) return { fixed: 0, perItem };
  const costs = createSelectionCosts(schema, new Map(Object.entries(fragments)));
  let fixed = 0;
  for (const field of costs.fieldsOf(node.selectionSet, type)) {
    const definition = type.getFields()[field.name.value];
    if (definition && isListType(getNullableType(definition.type))) {
      fixed += 1;
      perItem.set(definition.name, (perItem.get(definition.name) ?? 0) + 1 + costs.ofObject(field, type));
    } else fixed += costs.ofField(field, type);
  }
  return { fixed, perItem };
}
