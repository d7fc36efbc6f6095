import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  type ValueNode,
  valueFromASTUntyped,
} from 'graphql';
import { DeviceTrustError } from '../errors.ts';
import { sizeOfInput } from './input-size.ts';
import { createSelectionCosts } from './selection-cost.ts';

/** How much one request may ask, whatever its operation is. */
export interface CostLimits {
  /**
   * The default of 119,000 is for the largest request that should pass: everything about 1,000 references. Everything about
   * one costs 107, of which 71 are ten signals with six fields each. The references themselves cost 12,000 if they have
   * 128 KiB. A field takes about 1 µs in Apollo Server, so this is some 120 ms.
   */
  readonly maxCost: number;
  /** Entity references in all fields of a request together. */
  readonly maxRepresentations: number;
}

/** What an operation costs, as a function of its variables. It is computed once for each document. */
export interface OperationCost {
  /** The cost that does not depend on variables. */
  readonly fixed: number;
  /** The part of it that root fields other than `_entities` cost. What the entities cost is counted again once they are known. */
  readonly others: number;
  /** The entity references that the document itself contains. */
  readonly references: number;
  readonly variables: readonly VariableCost[];
}

/** What the value of one variable adds. */
interface VariableCost {
  readonly name: string;
  /** The value if the request sends none. */
  readonly fallback: unknown;
  /** The arguments of root fields in which it is used. Each of them costs the size of the value. */
  readonly uses: number;
  /** The fields that resolve it as a list of entity references. */
  readonly lists: number;
  /** What one reference costs in all of these fields together. */
  readonly perReference: number;
}

/** Keyed by the operation in the syntax tree, which the document cache keeps. */
const known = new WeakMap<OperationDefinitionNode, OperationCost>();

/**
 * The cost of an operation of a valid document. One unit is a selected field, an object of a list, or a value that a root
 * field takes from a variable, in pieces of 16 characters. A list has the size that `@listSize` assumes. Of the types that a
 * union or an interface can have, the most expensive one counts. A field counts although `@skip` may leave it out.
 */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): OperationCost {
  const cost = known.get(operation) ?? compute(schema, document, operation);
  known.set(operation, cost);
  return cost;
}

/** Does a request stay within its limits? */
export function isWithin(
  cost: OperationCost,
  variables: Readonly<Record<string, unknown>>,
  limits: CostLimits,
): boolean {
  const { total, references } = measure(cost, variables);
  return total <= limits.maxCost && references <= limits.maxRepresentations;
}

/**
 * Refuses a request beyond its limits.
 *
 * @throws DeviceTrustError BAD_USER_INPUT with status 400 and a message that names the limit
 */
export function checkCost(cost: OperationCost, variables: Readonly<Record<string, unknown>>, limits: CostLimits): void {
  const { total, references } = measure(cost, variables);
  if (references > limits.maxRepresentations) {
    const message = `representations: expected at most ${limits.maxRepresentations} in a request, but got more.`;
    throw new DeviceTrustError('BAD_USER_INPUT', { message, status: 400 });
  }
  if (total <= limits.maxCost) return;
  const message = `The request costs more than ${limits.maxCost}. Ask for fewer references, fields or values in one request.`;
  throw new DeviceTrustError('BAD_USER_INPUT', { message, status: 400 });
}

function measure({ fixed, references, variables: costs }: OperationCost, variables: Readonly<Record<string, unknown>>) {
  const sum = { total: fixed, references };
  for (const { name, fallback, uses, lists, perReference } of costs) {
    const value = Object.hasOwn(variables, name) ? variables[name] : fallback;
    if (lists > 0) {
      // A single value stands for a list of one.
      const count = Array.isArray(value) ? value.length : Number(value != null);
      sum.references += lists * count;
      sum.total += perReference * count;
    }
    sum.total += uses * sizeOfInput(value);
  }
  return sum;
}

function compute(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): OperationCost {
  const root = schema.getRootType(operation.operation);
  if (!root) return { fixed: 0, others: 0, references: 0, variables: [] };
  const costs = createSelectionCosts(schema, fragmentsOf(document));
  const variables = new Map(
    (operation.variableDefinitions ?? []).map(({ variable: { name }, defaultValue }) => {
      const fallback = defaultValue && valueFromASTUntyped(defaultValue);
      return [name.value, { name: name.value, fallback, uses: 0, lists: 0, perReference: 0 }];
    }),
  );
  let fixed = 0;
  let others = 0;
  let references = 0;
  for (const node of costs.fieldsOf(operation.selectionSet, root)) {
    // Only arguments of root fields can be large: the others are an enum and a number.
    for (const { value } of node.arguments ?? []) {
      for (const name of variablesIn(value)) {
        const variable = variables.get(name);
        if (variable) variable.uses += 1;
      }
    }
    const list = node.arguments?.find(({ name }) => name.value === 'representations')?.value;
    if (node.name.value !== '_entities' || !list) {
      others += costs.ofField(node, root);
      continue;
    }
    fixed += 1;
    const perReference = 1 + costs.ofObject(node, root);
    const variable = list.kind === Kind.VARIABLE ? variables.get(list.name.value) : undefined;
    if (variable) {
      variable.lists += 1;
      variable.perReference += perReference;
    } else {
      const count = list.kind === Kind.LIST ? list.values.length : 1;
      references += count;
      fixed += perReference * count;
    }
  }
  return {
    fixed: fixed + others,
    others,
    references,
    variables: [...variables.values()].filter(({ uses }) => uses > 0),
  };
}

function fragmentsOf({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of definitions) if (node.kind === Kind.FRAGMENT_DEFINITION) fragments.set(node.name.value, node);
  return fragments;
}

function variablesIn(value: ValueNode): string[] {
  if (value.kind === Kind.VARIABLE) return [value.name.value];
  if (value.kind === Kind.LIST) return value.values.flatMap(variablesIn);
  return value.kind === Kind.OBJECT ? value.fields.flatMap((field) => variablesIn(field.value)) : [];
}
