import type { GraphQLSchema } from 'graphql';
import { asError, badUserInput } from '../errors.ts';

/**
 * Changes the schema so that its `_entities` field resolves each representation by itself. As it comes, one that cannot be
 * resolved at all, such as one of an unknown type, throws for the whole list, with its neighbours' upstream calls already
 * under way; and one of a type without a reference resolver is answered with the caller's own fields.
 *
 * @param entities names of the types that have a reference resolver
 * @param limit representations that one request may have; a field with which there are more is refused
 */
export function isolateRepresentations(
  schema: GraphQLSchema,
  entities: ReadonlySet<string>,
  limit: number,
): GraphQLSchema {
  const field = schema.getQueryType()?.getFields()['_entities'];
  const resolveAll = field?.resolve;
  if (!field || !resolveAll) throw new Error('expected a subgraph schema with an _entities field, but got one without');

  field.resolve = async (source, { representations }, context, info) => {
    // Of all fields together: aliases would multiply them.
    context.operation.references += representations.length;
    if (context.operation.references > limit)
      throw badUserInput('representations', `at most ${limit} in a request`, 'more');
    const entityOf = async (representation: unknown) => {
      if (!entities.has(Object(representation).__typename)) {
        throw badUserInput('representations', `a __typename among ${[...entities].join(', ')}`, 'another or none');
      }
      // Sound: the field is a list in the schema, with one entry for each representation.
      const [entity] = (await resolveAll(source, { representations: [representation] }, context, info)) as [unknown];
      return entity;
    };
    // A failure is an Error in the list, which spoils its own entry alone. A rejected promise in it would do so too by the
    // book, but graphql-jit leaves such an entry out if it is the last: every reference behind a gap would be another's.
    return Promise.all(representations.map((representation: unknown) => entityOf(representation).catch(asError)));
  };
  return schema;
}
