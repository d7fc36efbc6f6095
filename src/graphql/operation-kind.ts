import { type DocumentNode, Kind, type OperationDefinitionNode, type SelectionSetNode } from 'graphql';

/** What an operation is. Only the name is the client's own; everything else is one of few words of the schema. */
export interface OperationKind {
  readonly type: OperationDefinitionNode['operation'];
  /** Its field of the root type; `several` if it has different ones, and `introspection` if it asks about the schema alone. */
  readonly field: string;
  readonly name: string | undefined;
}

/** The kind of an operation of a valid document. */
export function kindOf(
  document: DocumentNode,
  { operation, name, selectionSet }: OperationDefinitionNode,
): OperationKind {
  const all = rootFieldsOf(document, selectionSet);
  // Routers add `__typename` beside other fields.
  const [field, ...others] = [...all].filter((one) => !one.startsWith('__'));
  return { type: operation, field: others.length > 0 ? 'several' : (field ?? 'introspection'), name: name?.value };
}

/** The fields of the root type that an operation selects, each once, through fragments as well. */
function rootFieldsOf({ definitions }: DocumentNode, operation: SelectionSetNode): ReadonlySet<string> {
  const fields = new Set<string>();
  const spread = new Set<string>();
  const pending = [operation];
  for (let set = pending.pop(); set; set = pending.pop()) {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) fields.add(selection.name.value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) pending.push(selection.selectionSet);
      else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value);
        for (const definition of definitions) {
          const isSpread =
            definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === selection.name.value;
          if (isSpread) pending.push(definition.selectionSet);
        }
      }
    }
  }
  return fields;
}
