import type {
  DirectiveNode,
  DocumentNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql';

/**
 * Does an operation select something twice for the same place in the response, at least once with `@skip` or `@include`?
 * Compiled code then puts the fields of the response into another order than graphql-js.
 */
export function repeatsUnderConditions(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const node of document.definitions) if (node.kind === 'FragmentDefinition') fragments.set(node.name.value, node);

  /** What was selected so far, by its place in the response. */
  const selected = new Map<string, { isConditional: boolean; isRepeated: boolean }>();
  /** Records a selection. False if its place was selected before. */
  function record(place: string, isConditional: boolean): boolean {
    const known = selected.get(place);
    selected.set(place, {
      isConditional: isConditional || known?.isConditional === true,
      isRepeated: known !== undefined,
    });
    return known === undefined;
  }

  function visit({ selections }: SelectionSetNode, place: string, isConditional: boolean): void {
    for (const node of selections) {
      const isConditionalHere = isConditional || hasCondition(node.directives);
      if (node.kind === 'InlineFragment') {
        visit(node.selectionSet, place, isConditionalHere);
      } else if (node.kind === 'FragmentSpread') {
        const fragment = fragments.get(node.name.value);
        // Once for each place: fragments that spread each other twice would otherwise double the work with each level.
        if (record(`${place} ...${node.name.value}`, isConditionalHere) && fragment)
          visit(fragment.selectionSet, place, isConditionalHere);
      } else {
        const field = `${place}.${node.alias?.value ?? node.name.value}`;
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
