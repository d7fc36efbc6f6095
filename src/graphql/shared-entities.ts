import type { ExecutionResult } from 'graphql';
import type { CompiledQuery } from 'graphql-jit';
import type { GraphQLContext } from './context.ts';

/**
 * The root value of an execution in which equal references share one entity of the answer. Without it, as in Apollo Server,
 * the entity is completed for each of them.
 */
export class SharedEntities {
  /** Is each entity to be completed for each of its references after all? */
  areSeparate = false;
  #entities: readonly unknown[] = [];
  #indexes: readonly number[] | undefined;

  /** For each reference the index of its entity. Undefined if the references share none. */
  get indexes(): readonly number[] | undefined {
    return this.#indexes;
  }

  /** Lets references share these entities, of which each has its index in `indexes`. */
  share(entities: readonly unknown[], indexes: readonly number[]): void {
    this.#entities = entities;
    this.#indexes = indexes;
  }

  /** The entity of each reference. */
  ofAllReferences(): unknown[] | undefined {
    return this.#indexes?.map((index) => this.#entities[index]);
  }
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
  const { indexes } = shared;
  if (!indexes) return result;
  if (result.errors) {
    // An error has the path of one reference, and the entity is completed for each, so that each has its errors.
    shared.areSeparate = true;
    context.restartRefusals();
    return query(shared, context, variables);
  }
  const completed = result.data?.[responseName];
  // It is a list, because the field cannot be null without an error.
  if (!Array.isArray(completed)) return result;
  return { data: { [responseName]: indexes.map((index) => completed[index]) } };
}
