import {
  type ASTNode,
  type ASTVisitFn,
  type ASTVisitor,
  type ASTVisitorKeyMap,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLError,
  type GraphQLSchema,
  getEnterLeaveForKind,
  Kind,
  type ParseOptions,
  parse,
  TypeInfo,
  ValidationContext,
  type ValidationRule,
  visit,
} from 'graphql';

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
  const { entering, leaving } = handlersOf(rules.map((rule) => rule(context)));
  const visitor: ASTVisitor = {
    enter: (node, ...where) => {
      types.enter(node);
      usages.enter(node);
      for (const { rule, call } of entering.get(node.kind) ?? [])
        if (!rule.skipped && call(node, ...where) === false) rule.skipped = node;
    },
    leave: (node, ...where) => {
      for (const { rule, call } of leaving.get(node.kind) ?? []) if (!rule.skipped) call(node, ...where);
      for (const { rule } of entering.get(node.kind) ?? []) if (rule.skipped === node) rule.skipped = undefined;
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

/** What rules ask about a document. graphql-js walks over it once more for the variables. */
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
 * The children of each kind of node of an executable document. Names are left out: they are half of all nodes, and rules are
 * about what has them.
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

/** What one rule does at nodes of one kind. */
interface Handler {
  readonly rule: RuleState;
  readonly call: ASTVisitFn<ASTNode>;
}

interface RuleState {
  /** The node whose descendants the rule does not want to see. */
  skipped: ASTNode | undefined;
}

const KINDS: readonly Kind[] = Object.values(Kind);
const kinds = new Set<string>(KINDS);
const isKind = (key: string): key is Kind => kinds.has(key);

/**
 * The handlers of all rules by kind. `visitInParallel` of graphql-js asks each rule at each node, although most of them are
 * about few kinds; that takes half of its time.
 */
function handlersOf(visitors: readonly ASTVisitor[]) {
  const entering = new Map<string, Handler[]>();
  const leaving = new Map<string, Handler[]>();
  const add = (handlers: Map<string, Handler[]>, kind: Kind, handler: Handler) => {
    const others = handlers.get(kind);
    if (others) others.push(handler);
    else handlers.set(kind, [handler]);
  };
  for (const visitor of visitors) {
    const rule: RuleState = { skipped: undefined };
    const isGeneric = 'enter' in visitor || 'leave' in visitor;
    for (const kind of isGeneric ? KINDS : Object.keys(visitor).filter(isKind)) {
      const { enter, leave } = getEnterLeaveForKind(visitor, kind);
      if (enter) add(entering, kind, { rule, call: enter.bind(visitor) });
      if (leave) add(leaving, kind, { rule, call: leave.bind(visitor) });
    }
  }
  return { entering, leaving };
}
