import type { ExecutionResult } from 'graphql';
import type { CompiledQuery } from 'graphql-jit';
import type { GraphQLContext } from './context.ts';

/**
 * The root value of an execution in which equal references share one entity of the answer. Without it, as in Apollo Server,
 * the entity is completed for each of them.
 */
export class SharedEntities {
  /** The different entities. */
  entities: readonly unknown[] = [];
  /** For each reference the index of its entity. Undefined if no two references share one. */
  places: readonly number[] | undefined;
  /** Whether each entity is to be completed for each reference after all. */
  areSeparate = false;
}

type Query = CompiledQuery['query'];

/**
 * Executes an operation whose only field is `_entities`. Equal references get the same object in the answer, which therefore
 * is completed once.
 *
 * @param responseName the name of the field in the response
 */
export async function executeEntities(
  query: Query,
  responseName: string,
  context: GraphQLContext,
  variables: Readonly<Record<string, unknown>>,
): Promise<ExecutionResult> {
  const shared = new SharedEntities();
  const result = await query(shared, context, variables);
  const { places } = shared;
  if (!places) return result;
  if (result.errors) {
    // An error has the path of one reference, and the entity is completed for each, so that each has its errors.
    shared.areSeparate = true;
    context.restartRefusals();
    return query(shared, context, variables);
  }
  const completed = result.data?.[responseName];
  // It is a list, because the field cannot be null without an error.
  if (!Array.isArray(completed)) return result;
  return { data: { [responseName]: places.map((index) => completed[index]) } };
}
