import type { DocumentNode, GraphQLFormattedError, GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { CompiledOperation } from './compile.ts';
import { countSelectedFields, sizeOfCode, sizeOfDocument, sizeOfText } from './document-size.ts';

/**
 * The documents that callers sent, by their source text. It is a cache in front of Apollo Server, which parses and validates
 * every document that is not in it.
 */
export interface DocumentCache {
  /** The compiled operation of a document. Undefined if it has none yet, or not under this name. */
  findCompiled(source: string, operationName: string | undefined): CompiledOperation | undefined;
  /** The response to a document that was found to be invalid, whatever its variables are. */
  findInvalid(source: string): InvalidDocument | undefined;
  /** Keeps the response to an invalid document. */
  addInvalid(source: string, response: InvalidDocument): void;
  /** The cache as Apollo Server uses it: under keys of its own, and with valid documents only. */
  readonly store: DocumentStore;
}

/** The response to a document that does not parse or does not fit the schema. */
interface InvalidDocument {
  readonly status: number;
  readonly errors: readonly GraphQLFormattedError[];
}

/** Apollo Server's `KeyValueCache`, as far as it uses one for documents. */
interface DocumentStore {
  get(key: string): Promise<DocumentNode | undefined>;
  set(key: string, document: DocumentNode): Promise<void>;
  delete(key: string): Promise<void>;
}

/** A valid document. */
interface Entry {
  /** Apollo Server's key. */
  readonly key: string;
  /** How often it was sent. */
  readonly count: number;
  /** Kept from the second time on, so that a caller who never repeats a document fills no memory with syntax trees. */
  readonly document: DocumentNode | undefined;
  /** Null if the operation cannot be compiled. Undefined until compiling was tried. */
  readonly compiled: CompiledOperation | null | undefined;
}

/** A document is compiled when it is sent for the third time: compiling costs a hundred times as much as an execution. */
const COMPILE_AT_COUNT = 3;

/** Compiling takes about 60 µs for each field and blocks the event loop. Apollo Server executes larger documents. */
const MAX_COMPILED_FIELDS = 500;

/**
 * V8 hashes a longer text by its length alone. Among many documents of one length every lookup would compare the whole text
 * with each of them, so these are not kept. Clients' documents have a few thousand characters.
 */
const MAX_CHARACTERS = 16_383;

/** Size of the cache for valid documents, in bytes: it holds about 350 compiled operations of 40 fields. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Size of the cache for invalid documents, in bytes. It is separate, because an attacker can make up any number of them. */
const MAX_INVALID_BYTES = 2 * 1024 * 1024;

/** Size of an entry of either cache without its documents, in bytes. */
const ENTRY_BYTES = 500;

/** How long after a failure the compiler is loaded again at the earliest, in ms. */
const RETRY_MS = 1_000;

/** Loaded when a document is sent for the second time, so that it does not delay the start of the process. */
let compile: typeof import('./compile.ts').compile | undefined;

/** Loads the compiler. Rejects if its code cannot be read, for example because there is no file descriptor left. */
export async function loadCompiler(): Promise<void> {
  ({ compile } = await import('./compile.ts'));
}

/**
 * An empty cache for documents of one schema.
 *
 * @param onLoadFailure called when the compiler could not be loaded. Apollo Server executes everything until a later attempt
 */
export function createDocumentCache(schema: GraphQLSchema, onLoadFailure: (error: unknown) => void): DocumentCache {
  /** Sources by Apollo Server's keys, for the documents that are kept. */
  const sources = new Map<string, string>();
  const entries = new LRUCache<string, Entry>({
    maxSize: MAX_BYTES,
    sizeCalculation: sizeOfEntry,
    dispose: ({ key }, _source, reason) => {
      if (reason !== 'set') sources.delete(key);
    },
  });
  const invalid = new LRUCache<string, InvalidDocument>({
    maxSize: MAX_INVALID_BYTES,
    sizeCalculation: ({ errors }, source) => ENTRY_BYTES + sizeOfText(source) + sizeOfText(JSON.stringify(errors)),
  });

  let nextLoad = Number.NEGATIVE_INFINITY;
  function loadCompilerLater(): void {
    const now = performance.now();
    if (now < nextLoad) return;
    nextLoad = now + RETRY_MS;
    loadCompiler().catch(onLoadFailure);
  }

  function compiledOf(document: DocumentNode): CompiledOperation | null {
    if (countSelectedFields(document) > MAX_COMPILED_FIELDS) return null;
    return compile?.(schema, document) ?? null;
  }

  /** Counts one more request with this document. */
  function count(source: string, key: string, document: DocumentNode): void {
    if (source.length > MAX_CHARACTERS) return;
    const entry = entries.get(source);
    if (entry?.compiled !== undefined) return;
    const times = (entry?.count ?? 0) + 1;
    if (times > 1) {
      sources.set(key, source);
      if (!compile) loadCompilerLater();
    }
    entries.set(source, {
      key,
      count: times,
      document: times > 1 ? document : undefined,
      compiled: times >= COMPILE_AT_COUNT && compile ? compiledOf(document) : undefined,
    });
  }

  return {
    findCompiled: (source, operationName) => {
      const compiled = entries.get(source)?.compiled ?? undefined;
      return operationName === undefined || operationName === compiled?.kind.name ? compiled : undefined;
    },
    findInvalid: (source) => invalid.get(source),
    addInvalid: (source, response) => {
      if (source.length <= MAX_CHARACTERS) invalid.set(source, response);
    },
    store: {
      get: async (key) => {
        const source = sources.get(key);
        const document = source === undefined ? undefined : entries.get(source)?.document;
        if (source !== undefined && document) count(source, key, document);
        return document;
      },
      set: async (key, document) => count(document.loc?.source.body ?? '', key, document),
      delete: async (key) => {
        const source = sources.get(key);
        if (source !== undefined) entries.delete(source);
      },
    },
  };
}

function sizeOfEntry({ document, compiled }: Entry, source: string): number {
  if (!document) return ENTRY_BYTES + sizeOfText(source);
  return ENTRY_BYTES + sizeOfDocument(document) + (compiled ? sizeOfCode(countSelectedFields(document)) : 0);
}
