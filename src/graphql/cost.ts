import {
  defaultFieldResolver,
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  valueFromASTUntyped,
  visit,
} from 'graphql';
import { badUserInput, DeviceTrustError } from '../errors.ts';
import { isObject, sizeOf } from '../runtime/json.ts';
import type { CostLimits } from './settings.ts';

/** The cost of a request so far, and its limit. */
export interface Cost {
  readonly max: number;
  spent: number;
}

/** May this answer be serialised, which is the expensive part? Not if it, or its request, costs more than the limit. */
export function mayAnswer(answer: unknown, { max, spent }: Cost): boolean {
  const limit = max / COST_IN_ANSWER;
  const least = sizeOf(answer, CHARACTERS_PER_UNIT, 1, limit);
  if (spent > max || least > limit) return false;
  if (least * MAX_ESCAPE_LENGTH <= limit) return true;
  return sizeOf(answer, CHARACTERS_PER_UNIT, 1, limit, (text) => JSON.stringify(text).length) <= limit;
}

/** The cost of a unit of the answer: a value, or 16 characters of its texts and keys. 1,000 references have 250,000 units. */
const COST_IN_ANSWER = 0.45;

/** The most characters that JSON writes for one character, such as a control character. */
const MAX_ESCAPE_LENGTH = 6;

/** The part of a resolver's `info` that describes its valid document. */
type DocumentInfo = Pick<GraphQLResolveInfo, 'schema' | 'fragments'>;

/** The cost of an operation as a function of its variables, computed once for each document. */
export interface OperationCost {
  /** The cost that does not depend on variables. */
  readonly fixed: number;
  /** The entity references that the document itself contains. */
  readonly references: number;
  readonly variables: readonly VariableCost[];
}

interface VariableCost {
  readonly name: string;
  /** The value if the request sends none. */
  readonly fallback: unknown;
  /** The number of uses in arguments of root fields. Each use costs the size of the value. */
  uses: number;
  /** The number of `_entities` fields that resolve the variable as their list of references. */
  lists: number;
  /** The cost of one reference in all `_entities` fields together. */
  perReference: number;
}

/**
 * The cost of an operation of a valid document, which is the sum of
 *
 * - 1 for a selected field, even if `@skip` leaves it out;
 * - 1 for each object of a list of the size that `@listSize` assumes;
 * - for a variable in an argument of a root field, 1 for each value and every 16 characters, 4 for each object but a reference.
 *
 * Of the types of a union or an interface, the most expensive type counts.
 */
export function costOf(operation: OperationDefinitionNode, root: GraphQLObjectType, info: DocumentInfo): OperationCost {
  const variables = new Map<string, VariableCost>();
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    const fallback = defaultValue && valueFromASTUntyped(defaultValue);
    variables.set(name, { name, fallback, uses: 0, lists: 0, perReference: 0 });
  }
  let fixed = 0;
  let references = 0;
  for (const node of fieldsOf(operation.selectionSet, root, info)) {
    // Only arguments of root fields can be large.
    for (const argument of node.arguments ?? [])
      visit(argument, {
        Variable: ({ name }) => {
          const variable = variables.get(name.value);
          if (variable) variable.uses += 1;
        },
      });
    const list = node.arguments?.find(({ name }) => name.value === 'representations')?.value;
    if (node.name.value !== '_entities' || !list) {
      fixed += costOfField(node, root, info);
      continue;
    }
    const perReference = costOfItem(node, root, info);
    const variable = list.kind === Kind.VARIABLE ? variables.get(list.name.value) : undefined;
    if (variable) {
      variable.lists += 1;
      variable.perReference += perReference;
    } else {
      const count = list.kind === Kind.LIST ? list.values.length : 1;
      references += count;
      fixed += perReference * count;
    }
    fixed += 1;
  }
  return { fixed, references, variables: [...variables.values()].filter(({ uses }) => uses > 0) };
}

/** Characters of a caller's text that cost as much as one value. */
const CHARACTERS_PER_UNIT = 16;

/** The cost of an object in a caller's value: for a new order of keys, V8 makes a shape when it parses and when it copies. */
const COST_OF_OBJECT = 4;

/** The cost of a request with these variables. @throws DeviceTrustError BAD_USER_INPUT that names the limit it exceeds */
export function checkCost(
  { fixed, references, variables }: OperationCost,
  given: Readonly<Record<string, unknown>>,
  { maxCost, maxRepresentations }: CostLimits,
): number {
  let cost = fixed;
  let count = references;
  for (const { name, fallback, uses, lists, perReference } of variables) {
    const value = Object.hasOwn(given, name) ? given[name] : fallback;
    // A single value stands for a list of one.
    const items = Array.isArray(value) ? value : value == null ? [] : [value];
    count += items.length * lists;
    cost += items.length * perReference + uses * sizeOf(value, CHARACTERS_PER_UNIT, COST_OF_OBJECT);
    // `perReference` contains the cost of the reference's own object.
    if (lists > 0) cost -= lists * items.filter(isObject).length * (COST_OF_OBJECT - 1);
  }
  if (count > maxRepresentations)
    throw badUserInput('representations', `at most ${maxRepresentations} in a request`, 'more');
  if (cost > maxCost) {
    const message = `The request costs more than ${maxCost}. Ask for fewer references, fields or values in one request.`;
    throw new DeviceTrustError('BAD_USER_INPUT', { message });
  }
  return cost;
}

/** Makes a list that is longer than `@listSize` assumes cost its actual size, and empties it if the request exceeds its limit. */
export function countList(field: GraphQLField<unknown, { readonly cost: Cost }>): void {
  const { resolve = defaultFieldResolver } = field;
  const assumed = assumedSizeOf(field);
  if (assumed === undefined) return;
  field.resolve = (source, args, context, info) => {
    const list = resolve(source, args, context, info);
    const { cost } = context;
    if (!Array.isArray(list) || list.length <= assumed) return list;
    const perItem = info.fieldNodes.reduce((sum, node) => sum + costOfItem(node, info.parentType, info), 0);
    cost.spent += (list.length - assumed) * perItem;
    // Completing the list is expensive, and the whole answer is dropped anyway.
    return cost.spent > cost.max ? [] : list;
  };
}

/** The cost of a field with everything below it. A list has the size that `@listSize` assumes, or 1. */
function costOfField(node: FieldNode, parent: GraphQLObjectType, info: DocumentInfo): number {
  const field = definitionOf(node, parent);
  if (!field || !node.selectionSet) return 1;
  const size = isListType(getNullableType(field.type)) ? (assumedSizeOf(field) ?? 1) : 1;
  return 1 + size * costOfItem(node, parent, info);
}

/** The cost of one object that a field returns. The most expensive possible type counts. */
function costOfItem(node: FieldNode, parent: GraphQLObjectType, info: DocumentInfo): number {
  const { selectionSet } = node;
  const type = getNamedType(definitionOf(node, parent)?.type);
  if (!selectionSet || !type) return 1;
  const types = isAbstractType(type) ? info.schema.getPossibleTypes(type) : isObjectType(type) ? [type] : [];
  return 1 + Math.max(0, ...types.map((possible) => costOfSelections(selectionSet, possible, info)));
}

/** Known costs by selection and type. Without the map, fragments that spread each other twice would double the work per level. */
const knownCosts = new WeakMap<SelectionSetNode, Map<GraphQLObjectType, number>>();

function costOfSelections(selections: SelectionSetNode, type: GraphQLObjectType, info: DocumentInfo): number {
  const byType = knownCosts.get(selections) ?? new Map<GraphQLObjectType, number>();
  knownCosts.set(selections, byType);
  const cost =
    byType.get(type) ?? fieldsOf(selections, type, info).reduce((sum, node) => sum + costOfField(node, type, info), 0);
  byType.set(type, cost);
  return cost;
}

const META_FIELDS = new Map([SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, field]));

function definitionOf({ name }: FieldNode, parent: GraphQLObjectType): GraphQLField<unknown, unknown> | undefined {
  return parent.getFields()[name.value] ?? META_FIELDS.get(name.value);
}

/** The `assumedSize` of the field's `@listSize` in the SDL. */
function assumedSizeOf({ astNode }: Pick<GraphQLField<unknown, unknown>, 'astNode'>): number | undefined {
  const directive = astNode?.directives?.find(({ name }) => name.value === 'listSize');
  const size = directive?.arguments?.find(({ name }) => name.value === 'assumedSize')?.value;
  return size?.kind === Kind.INT ? Number(size.value) : undefined;
}

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
