/** The name of a document's first operation, as routers and clients write it. */
const LEADING_NAME = /^\s*(?:query|mutation)\s+([_A-Za-z]\w*)/;

/**
 * The text under which a document is known, and the name of its first operation. The text has underscores for the name, because
 * a router names each operation after its client's, and sends the same selection under hundreds of names. The length of the name
 * stays, so that errors have the locations of the document that was sent. A document that begins otherwise has no name here, and
 * is known by its own text.
 */
export function keyOf(source: string): { readonly key: string; readonly name: string | undefined } {
  const [head = '', name] = LEADING_NAME.exec(source) ?? [];
  if (name === undefined) return { key: source, name };
  const key = head.slice(0, -name.length) + '_'.repeat(name.length) + source.slice(head.length);
  return { key, name };
}
