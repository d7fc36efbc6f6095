import {
  type ASTNode,
  type ASTVisitor,
  type ASTVisitorKeyMap,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  Kind,
  type ParseOptions,
  parse,
  TypeInfo,
  ValidationContext,
  type ValidationRule,
  visit,
} from 'graphql';
import { inParallel } from './parallel-visitor.ts';

/**
 * Parses and validates a document. Undefined if it does not parse or breaks a rule: whoever wants to know why has to ask
 * graphql-js, which takes twice as long for a valid document.
 */
export function parseValid(
  schema: GraphQLSchema,
  source: string,
  rules: readonly ValidationRule[],
  options: ParseOptions,
): DocumentNode | undefined {
  try {
    const document = parse(source, options);
    checkRules(schema, document, rules);
    return document;
  } catch {
    return undefined;
  }
}

/** Throws the first mistake that a rule finds. */
function checkRules(schema: GraphQLSchema, document: DocumentNode, rules: readonly ValidationRule[]): void {
  const types = new TypeInfo(schema);
  const usages = new VariableUsages(types);
  const context = new Context(schema, document, types, usages);
  const all = inParallel(rules.map((rule) => rule(context)));
  const visitor: ASTVisitor = {
    enter: (node, ...where) => {
      types.enter(node);
      usages.enter(node);
      all.enter(node, ...where);
    },
    leave: (node, ...where) => {
      all.leave(node, ...where);
      types.leave(node);
    },
  };
  // Fragments first: rules ask at the end of an operation for the variables in the fragments that it spreads.
  const isOperation = ({ kind }: DefinitionNode) => Number(kind === Kind.OPERATION_DEFINITION);
  const definitions = document.definitions.toSorted((one, other) => isOperation(one) - isOperation(other));
  visit({ ...document, definitions }, visitor, CHILDREN);
}

type Definition = Parameters<ValidationContext['getVariableUsages']>[0];
type Usage = ReturnType<ValidationContext['getVariableUsages']>[number];

/** Where each operation and fragment uses variables, found in the one walk over the document. */
class VariableUsages {
  readonly #types: TypeInfo;
  readonly #found = new Map<Definition, Usage[]>();
  #usages: Usage[] = [];

  constructor(types: TypeInfo) {
    this.#types = types;
  }

  enter(node: ASTNode): void {
    if (node.kind === Kind.OPERATION_DEFINITION || node.kind === Kind.FRAGMENT_DEFINITION) {
      this.#usages = [];
      this.#found.set(node, this.#usages);
    } else if (node.kind === Kind.VARIABLE) {
      this.#usages.push({
        node,
        type: this.#types.getInputType(),
        defaultValue: this.#types.getDefaultValue(),
        parentType: this.#types.getParentInputType(),
      });
    }
  }

  of(definition: Definition): readonly Usage[] | undefined {
    return this.#found.get(definition);
  }
}

/** What rules ask about a document. That of graphql-js walks over it once more for the variables. */
class Context extends ValidationContext {
  readonly #usages: VariableUsages;

  constructor(schema: GraphQLSchema, document: DocumentNode, types: TypeInfo, usages: VariableUsages) {
    const onError = (error: GraphQLError) => {
      throw error;
    };
    super(schema, document, types, onError, true);
    this.#usages = usages;
  }

  override getVariableUsages(definition: Definition): readonly Usage[] {
    return this.#usages.of(definition) ?? super.getVariableUsages(definition);
  }
}

/**
 * The children of each kind of node of an executable document. Names are left out, because they are half of all nodes, and
 * no rule visits them: it visits the node that has the name.
 */
const CHILDREN = {
  Document: ['definitions'],
  OperationDefinition: ['variableDefinitions', 'directives', 'selectionSet'],
  FragmentDefinition: ['typeCondition', 'directives', 'selectionSet'],
  // A variable's definition is no use of it.
  VariableDefinition: ['type', 'defaultValue', 'directives'],
  ListType: ['type'],
  NonNullType: ['type'],
  SelectionSet: ['selections'],
  Field: ['arguments', 'directives', 'selectionSet'],
  FragmentSpread: ['directives'],
  InlineFragment: ['typeCondition', 'directives', 'selectionSet'],
  Directive: ['arguments'],
  Argument: ['value'],
  ListValue: ['values'],
  ObjectValue: ['fields'],
  ObjectField: ['value'],
} as const satisfies ASTVisitorKeyMap;
