import type {
  DirectiveNode,
  DocumentNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql';

/**
 * Does an operation select something twice at the same path of the response, at least once with `@skip` or `@include`?
 * Compiled code would then write the fields of the response in another order than graphql-js.
 */
export function repeatsUnderConditions(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions) if (node.kind === 'FragmentDefinition') fragments.set(node.name.value, node);

  /** What was selected so far, by its path in the response. */
  const selected = new Map<string, { isConditional: boolean; isRepeated: boolean }>();
  /** Records a selection. False if its path was selected before. */
  function record(path: string, isConditional: boolean): boolean {
    const known = selected.get(path);
    selected.set(path, {
      isConditional: isConditional || known?.isConditional === true,
      isRepeated: known !== undefined,
    });
    return known === undefined;
  }

  function visit({ selections }: SelectionSetNode, path: string, isConditional: boolean): void {
    for (const node of selections) {
      const isConditionalHere = isConditional || hasCondition(node.directives);
      if (node.kind === 'InlineFragment') {
        visit(node.selectionSet, path, isConditionalHere);
      } else if (node.kind === 'FragmentSpread') {
        const fragment = fragments.get(node.name.value);
        // Visited once for each path, because fragments that spread each other twice would double the work with each level.
        if (record(`${path} ...${node.name.value}`, isConditionalHere) && fragment)
          visit(fragment.selectionSet, path, isConditionalHere);
      } else {
        const field = `${path}.${node.alias?.value ?? node.name.value}`;
        record(field, isConditionalHere);
        if (node.selectionSet) visit(node.selectionSet, field, false);
      }
    }
  }
  visit(operation.selectionSet, '', false);
  return [...selected.values()].some(({ isConditional, isRepeated }) => isConditional && isRepeated);
}

function hasCondition(directives: readonly DirectiveNode[] = []): boolean {
  return directives.some(({ name }) => name.value === 'skip' || name.value === 'include');
}
