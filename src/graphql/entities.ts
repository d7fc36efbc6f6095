import type { ApolloGraphQLObjectTypeExtensions, GraphQLReferenceResolver } from '@apollo/subgraph';
import { type GraphQLResolveInfo, type GraphQLSchema, isObjectType } from 'graphql';
import { asError, badUserInput } from '../errors.ts';
import type { GraphQLContext } from './context.ts';

/**
 * Changes the schema so that its `_entities` field resolves each representation by itself. As @apollo/subgraph makes it, one
 * of an unknown type fails the whole list when upstream calls for the others have begun, and one of a type without a
 * reference resolver is answered with the caller's own fields.
 *
 * @param limit representations that one request may have; a field with which there are more is refused
 */
export function isolateRepresentations(schema: GraphQLSchema, limit: number): GraphQLSchema {
  const field = schema.getQueryType()?.getFields()['_entities'];
  if (!field) throw new Error('expected a subgraph schema with an _entities field, but got one without');
  const resolvers = referenceResolversOf(schema);

  async function entityOf(
    representation: unknown,
    context: GraphQLContext,
    info: GraphQLResolveInfo,
  ): Promise<unknown> {
    try {
      const { __typename: type } = Object(representation);
      const resolve = resolvers.get(type);
      // Sound: what has a __typename is an object.
      if (resolve) return withType(await resolve(representation as object, context, info), type);
      return badUserInput(
        'representations',
        `a __typename among ${[...resolvers.keys()].join(', ')}`,
        'another or none',
      );
    } catch (error) {
      return asError(error);
    }
  }

  field.resolve = async (_root, { representations }, context: GraphQLContext, info) => {
    // Of all fields together: aliases would multiply them.
    context.operation.references += representations.length;
    if (context.operation.references > limit)
      throw badUserInput('representations', `at most ${limit} in a request`, 'more');
    // A failure is an Error in the list, which spoils its own entry alone. A rejected promise in it would do so too by the
    // book, but graphql-jit leaves such an entry out if it is the last: every reference behind a gap would be another's.
    return Promise.all(representations.map((one: unknown) => entityOf(one, context, info)));
  };
  return schema;
}

/** By the name of the type; where @apollo/subgraph keeps them. */
function referenceResolversOf(schema: GraphQLSchema): Map<string, GraphQLReferenceResolver<GraphQLContext>> {
  const resolvers = new Map<string, GraphQLReferenceResolver<GraphQLContext>>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    // Sound: what @apollo/subgraph says that it puts there.
    const { apollo } = type.extensions as ApolloGraphQLObjectTypeExtensions<GraphQLContext>;
    const resolve = apollo?.subgraph?.resolveReference;
    if (resolve) resolvers.set(type.name, resolve);
  }
  return resolvers;
}

/** An entity with the name of its type, by which the `_Entity` union tells the types apart. */
function withType(entity: unknown, type: string): unknown {
  if (typeof entity !== 'object' || entity === null) return entity;
  return '__typename' in entity && entity.__typename === type ? entity : { ...entity, __typename: type };
}
