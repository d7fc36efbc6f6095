import { type DocumentNode, type GraphQLSchema, parse } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { CompiledOperation } from './compile.ts';
import {
  countSelectedFields,
  ENTRY_BYTES,
  MAX_CHARACTERS,
  sizeOfCode,
  sizeOfDocument,
  sizeOfText,
} from './document-size.ts';
import { createInvalidDocuments, type InvalidDocuments } from './invalid-documents.ts';
import { type NamedDocument, type Relocate, relocationOf, splitName } from './operation-name.ts';
import { UseCount } from './use-count.ts';

/**
 * The documents that callers sent. It is a cache in front of Apollo Server, which gets every document that is not compiled.
 * Documents that differ only in the name of their operation are one: they share their compiled operation.
 */
export interface DocumentCache {
  /** The compiled operation of a document. Undefined if it has none yet, or not under this name. */
  findCompiled(source: string, operationName: string | undefined): FoundOperation | undefined;
  readonly invalid: InvalidDocuments;
  /** Loads the compiler. If that fails, it is tried again when a document is to be compiled. */
  loadCompiler(): Promise<void>;
  /** A document that is known to be valid, which counts as one more use of it. */
  findValid(source: string): DocumentNode | undefined;
  /** Adds a document that was found to be valid. */
  addValid(document: DocumentNode): void;
}

/** A compiled operation under the name that a request gives it. */
export interface FoundOperation {
  readonly compiled: CompiledOperation;
  readonly name: string | undefined;
  /** Corrects the locations of errors, which are those of the document that was compiled. */
  readonly relocate: Relocate;
}

/** A document that was found to be valid. Its text is the key. */
interface ValidDocument {
  /** The name with which it is valid. With another one, two operations of the document could have the same name. */
  readonly name: string | undefined;
  readonly uses: UseCount;
}

/** What is kept of a valid document that is sent often. Its text is the key. */
interface Prepared {
  /** As it was sent when it was prepared. */
  readonly named: NamedDocument;
  readonly document: DocumentNode;
  /** Undefined if the operation cannot be compiled. */
  readonly compiled: CompiledOperation | undefined;
  readonly uses: UseCount;
  readonly bytes: number;
}

/** A document is prepared when it is sent for the third time: compiling costs a hundred times as much as an execution. */
const PREPARE_AT_COUNT = 3;

/**
 * Where there is no room left, a document is prepared if it is sent this many times as often as those that make room for it.
 * Otherwise each of too many documents that take turns would displace another one before that is sent again.
 */
const MIN_ADVANTAGE = 2;

/** Compiling takes about 60 µs for each field and blocks the event loop. Apollo Server executes larger documents. */
const MAX_COMPILED_FIELDS = 500;

/** Size of the cache for valid documents, in bytes: it holds the texts of 5,000 documents of 40 fields, which are parsed again. */
const MAX_VALID_BYTES = 12 * 1024 * 1024;

/** Size of the cache for prepared documents, in bytes: it holds about 250 compiled operations of 40 fields. */
const MAX_PREPARED_BYTES = 32 * 1024 * 1024;

/** How long after a failure the compiler is loaded again at the earliest, in ms. */
const RETRY_MS = 1_000;

/** Loaded before readiness, and again later if that failed. */
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
  const valid = new LRUCache<string, ValidDocument>({
    maxSize: MAX_VALID_BYTES,
    sizeCalculation: ({ name = '' }, text) => ENTRY_BYTES + sizeOfText(name) + sizeOfText(text),
  });
  const prepared = new LRUCache<string, Prepared>({
    maxSize: MAX_PREPARED_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
  });

  let nextLoad = Number.NEGATIVE_INFINITY;
  async function loadOrReport(): Promise<void> {
    const now = performance.now();
    if (now < nextLoad) return;
    nextLoad = now + RETRY_MS;
    await loadCompiler().catch(onLoadFailure);
  }

  /** Makes room in the cache for prepared documents, if those in it are sent much less often than the one to be added. */
  function makeRoom(bytes: number, uses: UseCount): boolean {
    let missing = prepared.calculatedSize + bytes - MAX_PREPARED_BYTES;
    const victims: string[] = [];
    for (const text of prepared.rkeys()) {
      const victim = prepared.peek(text);
      if (missing <= 0 || !victim) break;
      if (victim.uses.value() * MIN_ADVANTAGE > uses.value()) return false;
      victims.push(text);
      missing -= victim.bytes;
    }
    for (const text of victims) prepared.delete(text);
    return missing <= 0;
  }

  function prepare(named: NamedDocument, uses: UseCount, document: DocumentNode): void {
    const { text } = named;
    if (!compile) {
      loadOrReport();
      return;
    }
    const fields = countSelectedFields(document);
    const isSmall = fields <= MAX_COMPILED_FIELDS;
    const bytes = ENTRY_BYTES + sizeOfText(text) + sizeOfDocument(document) + (isSmall ? sizeOfCode(fields) : 0);
    if (!makeRoom(bytes, uses)) return;
    const compiled = isSmall ? compile(schema, document) : undefined;
    prepared.set(text, { named, document, compiled, uses, bytes });
  }

  /** Counts one more request with a valid document. */
  function count(named: NamedDocument, document: DocumentNode): void {
    const { text, name } = named;
    const known = valid.get(text);
    const uses = known?.uses ?? new UseCount();
    uses.add();
    if (!known || known.name !== name) valid.set(text, { name, uses });
    // A count loses a little of its value between two uses, so the third one is less than 3.
    if (uses.value() > PREPARE_AT_COUNT - 1 && !prepared.has(text)) prepare(named, uses, document);
  }

  return {
    findCompiled: (source, operationName) => {
      const named = splitName(source);
      const found = prepared.get(named.text);
      found?.uses.add();
      if (!found?.compiled) return undefined;
      // A name that is not at the beginning belongs to the text.
      const name = named.name ?? (found.named.name === undefined ? found.compiled.kind.name : undefined);
      if (operationName !== undefined && operationName !== name) return undefined;
      return { compiled: found.compiled, name, relocate: relocationOf(found.named, named) };
    },
    invalid: createInvalidDocuments(),
    loadCompiler: loadOrReport,
    findValid: (source) => {
      const named = splitName(source);
      const known = valid.get(named.text);
      if (!known || known.name !== named.name) return undefined;
      const kept = prepared.get(named.text)?.document;
      const document = kept?.loc?.source.body === source ? kept : parse(source);
      count(named, document);
      return document;
    },
    addValid: (document) => {
      const source = document.loc?.source.body ?? '';
      if (source.length <= MAX_CHARACTERS) count(splitName(source), document);
    },
  };
}
