import type { DocumentNode, FragmentDefinitionNode, SelectionSetNode } from 'graphql';

/** What a token of a document takes as a part of its syntax tree, in bytes: 250 to 350 were measured on Node 24. */
const BYTES_PER_TOKEN = 350;

/** What a selected field takes as compiled code, in bytes, fragments expanded: up to 900 were measured on Node 24. */
const BYTES_PER_COMPILED_FIELD = 1_024;

/** The memory that a parsed document takes, in bytes. */
export function sizeOfDocument({ loc }: DocumentNode): number {
  let tokens = 0;
  for (let token = loc?.startToken; token; token = token.next ?? undefined) tokens += 1;
  return tokens * BYTES_PER_TOKEN;
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
