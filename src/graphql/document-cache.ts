import type { DocumentNode, GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { CompiledOperation } from './compile.ts';

/** What the same documents, sent again and again, are compiled to. */
export interface CompiledOperations {
  /** The operation of a document that was learned often enough to be worth compiling; undefined if another is asked for. */
  find(source: string, operationName: string | undefined): CompiledOperation | undefined;
  /** A document that was parsed and validated, and whose operation was asked for. */
  learn(source: string, document: DocumentNode): void;
}

/** An operation is compiled when it comes for the third time: a caller who never repeats one must not keep us compiling. */
const WORTH_IT = 3;
const MAX_OPERATIONS = 500;
/** Of the sources together; code and AST are larger by a factor, not by an order. */
const MAX_CHARACTERS = 1024 * 1024;

/** How long after a failure the compiler is loaded again at the earliest, in ms. */
const RETRY_MS = 1_000;

/** Not loaded before a document comes a second time, so that no process starts later for it. */
let compile: typeof import('./compile.ts').compile | undefined;

/** Resolves when documents can be compiled. Rejects if the code for that cannot be read, as without a descriptor left. */
export async function loadCompiler(): Promise<void> {
  ({ compile } = await import('./compile.ts'));
}

interface Entry {
  readonly seen: number;
  /** Was it tried? */
  readonly isDone: boolean;
  readonly compiled: CompiledOperation | undefined;
}

const UNSEEN: Entry = { seen: 0, isDone: false, compiled: undefined };

/**
 * Compiles documents of one schema that have one operation, each when it comes for the third time. Empty at first.
 *
 * @param onLoadFailure told why nothing can be compiled yet: everything goes the slow way until a later attempt
 */
export function createCompiledOperations(
  schema: GraphQLSchema,
  onLoadFailure: (error: unknown) => void,
): CompiledOperations {
  const entries = new LRUCache<string, Entry>({
    max: MAX_OPERATIONS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (_entry, source) => source.length,
  });
  let nextLoad = Number.NEGATIVE_INFINITY;
  const loadInTime = () => {
    const now = performance.now();
    if (now < nextLoad) return;
    nextLoad = now + RETRY_MS;
    loadCompiler().catch(onLoadFailure);
  };
  return {
    find: (source, operationName) => {
      const compiled = entries.get(source)?.compiled;
      return operationName === undefined || operationName === compiled?.name ? compiled : undefined;
    },
    learn: (source, document) => {
      const entry = entries.get(source) ?? UNSEEN;
      if (entry.isDone) return;
      const seen = entry.seen + 1;
      if (seen > 1 && !compile) loadInTime();
      const isDone = seen >= WORTH_IT && compile !== undefined;
      entries.set(source, { seen, isDone, compiled: isDone ? compile?.(schema, document) : undefined });
    },
  };
}
