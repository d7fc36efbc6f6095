import { setImmediate } from 'node:timers/promises';
import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import type { CompiledQuery } from 'graphql-jit';
import type { Holder } from '../callers/shares.ts';
import { DeviceTrustError } from '../errors.ts';
import type { OperationKind } from '../observability/metrics.ts';
import { canBeCompiled, compile } from './compile.ts';
import type { Answer, RequestContext } from './context.ts';
import { checkCost, costOf, fieldsOf, type OperationCost } from './cost.ts';
import type { DocumentCache } from './document-cache.ts';
import { sizeOfDocument } from './documents.ts';
import { reportErrors, toErrors } from './errors.ts';
import type { CostLimits } from './settings.ts';
import { checkVariables, type DeclaredVariables, declaredBy, dropUndeclared } from './variables.ts';

/** An operation of a valid document, with everything that is computed once for it. */
interface KnownOperation {
  /** The key of its document in the cache. */
  readonly hash: string;
  readonly document: DocumentNode;
  readonly definition: OperationDefinitionNode;
  readonly kind: Omit<OperationKind, 'name'>;
  readonly cost: OperationCost;
  readonly variables: DeclaredVariables;
  /** The number of executions, and the one after which it is compiled. */
  uses: number;
  compiledAt: number;
  /** Undefined if graphql-js executes it. */
  code: CompiledQuery['query'] | undefined;
}

type Variables = Record<string, unknown>;

/** Compiled code with its own source takes up to this many times the memory of the document. */
const CODE_FACTOR = 4;

/** The execution after which an operation is compiled: compiling costs a hundred times as much as an execution. */
const COMPILED_AT_USE = 3;
/** The most operations that wait to be compiled. */
const MAX_WAITING = 50;

/** Checks and executes the operations of valid documents. */
export class Execution {
  readonly #schema: GraphQLSchema;
  readonly #limits: CostLimits;
  readonly #known = new WeakMap<OperationDefinitionNode, KnownOperation>();
  readonly #documents: DocumentCache<DocumentNode>;
  /** The number of operations that wait to be compiled, and the end of the last compilation. */
  #waiting = 0;
  #lastCompilation: Promise<unknown> = Promise.resolve();

  /** The cache gets each valid document, and with it the code of its operations. */
  constructor(schema: GraphQLSchema, limits: CostLimits, documents: DocumentCache<DocumentNode>) {
    this.#schema = schema;
    this.#limits = limits;
    this.#documents = documents;
  }

  /** An operation of a valid document, with everything that is computed once for it. A new document counts in this caller's share. */
  know(hash: string, document: DocumentNode, definition: OperationDefinitionNode, caller: Holder): KnownOperation {
    const known = this.#known.get(definition);
    if (known) return known;
    this.#documents.add(hash, document, sizeOfDocument(document), caller);
    const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
    for (const node of document.definitions)
      if (node.kind === Kind.FRAGMENT_DEFINITION) fragments[node.name.value] = node;
    const { operation: type, selectionSet } = definition;
    const root = this.#schema.getRootType(type);
    if (!root) throw new Error(`expected an operation that is valid, but got a ${type}`);
    const info = { schema: this.#schema, fragments };
    const rootFields = new Set(fieldsOf(selectionSet, root, info).map((node) => node.name.value));
    // Routers add `__typename`.
    const [field, ...others] = [...rootFields].filter((fieldName) => !fieldName.startsWith('__'));
    const kind = { type, field: others.length > 0 ? 'several' : (field ?? 'introspection') };
    const operation = {
      hash,
      document,
      definition,
      kind,
      cost: costOf(definition, root, info),
      variables: declaredBy(definition, this.#schema),
      uses: 0,
      compiledAt: COMPILED_AT_USE,
      code: undefined,
    };
    this.#known.set(definition, operation);
    return operation;
  }

  /** The refusal of a request that costs too much or whose variables are invalid; undefined if it may be executed. */
  check(known: KnownOperation, variables: Variables, context: RequestContext): Answer | undefined {
    context.operation.recordKind(known.kind, known.definition.name?.value);
    dropUndeclared(known.variables, variables);
    try {
      // The cost comes first: it is cheap for any number of values, and bounds the checks that follow.
      context.cost.spent += checkCost(known.cost, variables, this.#limits);
      checkVariables(known.variables, variables);
      return undefined;
    } catch (error) {
      if (!(error instanceof DeviceTrustError)) throw error;
      return { status: 400, result: { errors: toErrors([error]) } };
    }
  }

  /** Makes the answer to an executed operation, and reports its errors. */
  finish(known: KnownOperation, { data, errors }: ExecutionResult, context: RequestContext): Answer {
    known.uses += 1;
    if (known.uses === known.compiledAt) this.#compileLater(known);
    if (!errors) return { status: 200, result: { data: data ?? null } };
    reportErrors(context.operation, errors);
    const formatted = toErrors(errors);
    // Without data nothing was executed, because graphql-js refused a value of the request.
    if (data === undefined) return { status: 400, result: { errors: formatted } };
    return { status: 200, result: { errors: formatted, data } };
  }

  /** Compiles an operation once its answer is sent, one in each turn of the event loop. If it fails, graphql-js remains. */
  #compileLater(known: KnownOperation): void {
    // If there is no room now, it is tried again once the operation has been used twice as often.
    known.compiledAt *= 2;
    if (this.#waiting === MAX_WAITING) return;
    this.#waiting += 1;
    const compileNext = async () => {
      await setImmediate();
      this.#waiting -= 1;
      const isPlain = canBeCompiled(this.#schema, known);
      if (isPlain && !this.#documents.grow(known.hash, CODE_FACTOR * sizeOfDocument(known.document))) return;
      known.compiledAt = Number.POSITIVE_INFINITY;
      if (isPlain) known.code = compile(this.#schema, known);
    };
    this.#lastCompilation = this.#lastCompilation.then(compileNext).catch(() => {});
  }

  /** Executes an operation that `check` did not refuse. Does not throw. */
  execute({ code, document, definition }: KnownOperation, variables: Variables, context: RequestContext) {
    if (code) return code(undefined, context, variables);
    const operationName = definition.name?.value;
    return execute({ schema: this.#schema, document, operationName, contextValue: context, variableValues: variables });
  }
}
