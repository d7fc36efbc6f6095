import { setImmediate } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import {
  type DocumentNode,
  execute,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import type { CompiledQuery } from 'graphql-jit';
import { DeviceTrustError } from '../errors.ts';
import type { OperationKind } from '../observability/metrics.ts';
import { canBeCompiled, compile } from './compile.ts';
import type { Answer, RequestContext } from './context.ts';
import { checkCost, costOf, fieldsOf, type OperationCost } from './cost.ts';
import { DocumentCache, sizeOfDocument } from './documents.ts';
import { reportErrors, toErrors } from './errors.ts';
import type { CostLimits } from './settings.ts';
import { checkVariables, type DeclaredVariables, declaredBy, dropUndeclared } from './variables.ts';

/** An operation of a valid document, with everything that is computed once for it. */
interface KnownOperation {
  readonly document: DocumentNode;
  readonly definition: OperationDefinitionNode;
  readonly kind: Omit<OperationKind, 'name'>;
  readonly cost: OperationCost;
  readonly variables: DeclaredVariables;
  /** The number of executions. It begins again at 0 if there is no room for its compiled code, or no longer. */
  uses: number;
  /** The most memory that it takes. */
  readonly bytes: number;
}

type Variables = Record<string, unknown>;

/**
 * The most memory for valid documents, and for compiled operations, in bytes. deploy/capacity.md says how many fit. With both full,
 * a process held 86 MiB of an old heap of 256, and up to 60 with documents of the worst kinds, which are estimated too high.
 */
export const MAX_CACHE_BYTES = getHeapStatistics().heap_size_limit / 10;
/** Compiled code with its own source takes up to this many times the memory of the operation. */
const CODE_FACTOR = 4;

/** The execution after which an operation is compiled: compiling costs a hundred times as much as an execution. */
const COMPILED_AT_USE = 3;
/** The most operations that wait to be compiled. The uses of a further operation are counted anew. */
const MAX_WAITING = 50;

/** Checks and executes the operations of valid documents. */
export class Execution {
  readonly #schema: GraphQLSchema;
  readonly #limits: CostLimits;
  readonly #known = new WeakMap<OperationDefinitionNode, KnownOperation>();
  /** Compiled operations. graphql-js executes all others. */
  readonly #code = new DocumentCache<KnownOperation, CompiledQuery['query']>(MAX_CACHE_BYTES, undefined, (evicted) => {
    evicted.uses = 0;
  });
  /** The number of operations that wait to be compiled, and the end of the last compilation. */
  #waiting = 0;
  #lastCompilation: Promise<unknown> = Promise.resolve();

  constructor(schema: GraphQLSchema, limits: CostLimits) {
    this.#schema = schema;
    this.#limits = limits;
  }

  /** What is known of an operation of a valid document. */
  know(document: DocumentNode, definition: OperationDefinitionNode): KnownOperation {
    const known = this.#known.get(definition) ?? this.#analyse(document, definition);
    this.#known.set(definition, known);
    return known;
  }

  #analyse(document: DocumentNode, definition: OperationDefinitionNode): KnownOperation {
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
    return {
      document,
      definition,
      kind,
      cost: costOf(definition, root, info),
      variables: declaredBy(definition, this.#schema),
      uses: 0,
      bytes: sizeOfDocument(document),
    };
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

  /** Executes an operation that `check` did not refuse, and reports its errors. Does not throw. */
  async execute(known: KnownOperation, variables: Variables, context: RequestContext): Promise<Answer> {
    const { data, errors } = await this.#run(known, variables, context);
    known.uses += 1;
    if (known.uses === COMPILED_AT_USE) this.#compileLater(known);
    if (!errors) return { status: 200, result: { data: data ?? null } };
    reportErrors(context.operation, errors);
    const formatted = toErrors(errors);
    // Without data nothing was executed, because graphql-js refused a value of the request.
    if (data === undefined) return { status: 400, result: { errors: formatted } };
    return { status: 200, result: { errors: formatted, data } };
  }

  /** Compiles an operation once its answer is sent, one in each turn of the event loop. If it fails, graphql-js remains. */
  #compileLater(known: KnownOperation): void {
    if (this.#waiting === MAX_WAITING) {
      known.uses = 0;
      return;
    }
    this.#waiting += 1;
    const compileNext = async () => {
      await setImmediate();
      this.#waiting -= 1;
      const bytes = CODE_FACTOR * known.bytes;
      if (!this.#code.makeRoom(bytes)) known.uses = 0;
      else if (canBeCompiled(this.#schema, known)) {
        const code = compile(this.#schema, known);
        if (code) this.#code.add(known, code, bytes);
      }
    };
    this.#lastCompilation = this.#lastCompilation.then(compileNext).catch(() => {});
  }

  /** The compiled code of an operation; undefined if graphql-js executes it. */
  codeOf(known: KnownOperation): CompiledQuery['query'] | undefined {
    return this.#code.get(known);
  }

  #run(known: KnownOperation, variables: Variables, context: RequestContext) {
    const code = this.codeOf(known);
    if (code) return code(undefined, context, variables);
    const { document, definition } = known;
    const operationName = definition.name?.value;
    return execute({ schema: this.#schema, document, operationName, contextValue: context, variableValues: variables });
  }
}
