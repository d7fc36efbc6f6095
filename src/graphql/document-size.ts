import { type DocumentNode, type FragmentDefinitionNode, type SelectionSetNode, TokenKind } from 'graphql';

/**
 * V8 hashes a longer text by its length alone. Among many documents of one length every lookup would compare the whole text
 * with each of them, so these are not kept. Clients' documents have a few thousand characters.
 */
export const MAX_CHARACTERS = 16_383;

/** Size of an entry of a cache without its documents, in bytes. */
export const ENTRY_BYTES = 500;

/** What a token of a document takes as a part of its syntax tree, in bytes: 250 to 350 were measured on Node 24. */
const BYTES_PER_TOKEN = 350;

/** What a selected field takes as compiled code, in bytes, fragments expanded: up to 900 were measured on Node 24. */
const BYTES_PER_COMPILED_FIELD = 1_024;

/** What a character takes, in bytes: two as soon as one character of the text is outside Latin-1. */
const BYTES_PER_CHARACTER = 2;

/**
 * What a character of a string value takes as well, in bytes: up to 29 were measured on Node 24. The parser joins the value
 * from pieces that stay in memory, and each escape sequence begins a new one.
 */
const BYTES_PER_STRING_CHARACTER = 32;

/** The memory that a text takes, in bytes. */
export function sizeOfText({ length }: string): number {
  return length * BYTES_PER_CHARACTER;
}

/** The memory that a parsed document takes together with its source, in bytes. */
export function sizeOfDocument({ loc }: DocumentNode): number {
  let bytes = sizeOfText(loc?.source.body ?? '');
  for (let token = loc?.startToken; token; token = token.next ?? undefined) {
    bytes += BYTES_PER_TOKEN;
    if (token.kind === TokenKind.STRING || token.kind === TokenKind.BLOCK_STRING)
      bytes += (token.end - token.start) * BYTES_PER_STRING_CHARACTER;
  }
  return bytes;
}

/** The memory that the compiled code of so many fields takes, in bytes. */
export function sizeOfCode(fields: number): number {
  return fields * BYTES_PER_COMPILED_FIELD;
}

/**
 * The fields that the operations of a valid document select, with each fragment counted wherever it is spread: compiled code
 * grows with this number, and a few kilobytes of fragments under aliases can stand for many thousands.
 */
export function countSelectedFields(document: DocumentNode): number {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions) if (node.kind === 'FragmentDefinition') fragments.set(node.name.value, node);
  /** The counts by fragment. Without them, fragments that spread each other twice would double the work with each level. */
  const known = new Map<string, number>();

  function countFragment(name: string): number {
    const count = known.get(name) ?? countIn(fragments.get(name)?.selectionSet);
    known.set(name, count);
    return count;
  }

  function countIn(selectionSet: SelectionSetNode | undefined): number {
    let count = 0;
    for (const node of selectionSet?.selections ?? []) {
      if (node.kind === 'FragmentSpread') count += countFragment(node.name.value);
      else count += (node.kind === 'Field' ? 1 : 0) + countIn(node.selectionSet);
    }
    return count;
  }

  let fields = 0;
  for (const node of document.definitions)
    if (node.kind === 'OperationDefinition') fields += countIn(node.selectionSet);
  return fields;
}
