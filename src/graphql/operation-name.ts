import type { GraphQLFormattedError } from 'graphql';

/** A document, split into the name of its operation and the rest. */
export interface NamedDocument {
  /** The document without the name. Documents with the same text differ in nothing that matters to an execution. */
  readonly text: string;
  /** Undefined if the document does not begin with a named operation. */
  readonly name: string | undefined;
  /** Where the name begins. */
  readonly start: number;
}

/**
 * Only what certainly is the name of an operation: it follows the keyword, and variables, directives or fields follow it
 * (GraphQL specification, section 2.3). So a document that does not parse has never the text of one that does.
 */
const OPERATION_NAME = /^([\s\ufeff]*(?:query|mutation)[ \t]+)([A-Za-z_]\w*)(?=[ \t\r\n]*[({@])/;

/** Splits a document. Clients and routers give many operations a name of their own that are otherwise the same. */
export function splitName(source: string): NamedDocument {
  const match = OPERATION_NAME.exec(source);
  if (!match) return { text: source, name: undefined, start: 0 };
  const [{ length }, { length: start }, name] = [match[0], match[1] ?? '', match[2]];
  return { text: source.slice(0, start) + source.slice(length), name, start };
}

/** Changes an error, if it has to be changed. */
export type Relocate = (error: GraphQLFormattedError) => GraphQLFormattedError;

const unchanged: Relocate = (error) => error;

/** Makes what corrects the locations of errors in one document to those in another that has the same text under another name. */
export function relocationOf(from: NamedDocument, to: NamedDocument): Relocate {
  const moved = (to.name?.length ?? 0) - (from.name?.length ?? 0);
  if (moved === 0) return unchanged;
  // Every field comes after the name, and those in its line are moved. One of both has a name, as nothing is moved otherwise.
  const start = Math.max(from.start, to.start);
  const line = to.text.slice(0, start).split(/\r\n|[\r\n]/).length;
  return (error) => {
    const locations = error.locations?.map((location) =>
      location.line === line ? { line, column: location.column + moved } : location,
    );
    return locations ? { ...error, locations } : error;
  };
}
