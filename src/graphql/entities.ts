import type { ApolloGraphQLObjectTypeExtensions, GraphQLReferenceResolver } from '@apollo/subgraph';
import { type GraphQLResolveInfo, type GraphQLSchema, isObjectType, Kind } from 'graphql';
import { asError, badUserInput } from '../errors.ts';
import type { GraphQLContext } from './context.ts';
import { costOfEntities } from './entity-cost.ts';

/**
 * Changes the schema so that its `_entities` field resolves each representation by itself. In @apollo/subgraph's own
 * resolver, one representation of an unknown type makes the whole list fail after upstream calls for the others have begun.
 * For a type without a reference resolver it returns the caller's own fields.
 */
export function isolateRepresentations(schema: GraphQLSchema): GraphQLSchema {
  const field = schema.getQueryType()?.getFields()['_entities'];
  if (!field) throw new Error('expected a subgraph schema with an _entities field, but got one without');
  const resolvers = referenceResolversOf(schema);
  const keyOf = referenceKeysOf(schema);

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
    /** What equal references share. Their own failure as well: an Error is a value here. */
    const shared = new Map<string, Promise<unknown>>();
    const resolve = (representation: unknown) => {
      const key = keyOf(representation);
      if (key === undefined) return entityOf(representation, context, info);
      const known = shared.get(key);
      if (!known) {
        const entity = entityOf(representation, context, info);
        shared.set(key, entity);
        return entity;
      }
      // Counted all the same, because lookups and calls together show how many calls were saved.
      const { token } = Object(representation);
      if (typeof token === 'string') context.recorder.recordLookup(token);
      return known;
    };
    // A failure is an Error in the list, which makes only its own entry null. The specification allows a rejected promise as
    // well, but graphql-jit leaves out such an entry if it is the last one, and the router matches entries by position.
    const entities = await Promise.all(representations.map(resolve));
    // Refused before the entities are completed, which is where their cost arises.
    context.countCost(costOfEntities(entities, info));
    return entities;
  };
  return schema;
}

/** The reference resolvers by the name of their type, from where @apollo/subgraph keeps them. */
function referenceResolversOf(schema: GraphQLSchema): Map<string, GraphQLReferenceResolver<GraphQLContext>> {
  const resolvers = new Map<string, GraphQLReferenceResolver<GraphQLContext>>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    // Sound: this is the type that @apollo/subgraph documents for its extensions.
    const { apollo } = type.extensions as ApolloGraphQLObjectTypeExtensions<GraphQLContext>;
    const resolve = apollo?.subgraph?.resolveReference;
    if (resolve) resolvers.set(type.name, resolve);
  }
  return resolvers;
}

/**
 * Makes the function that gives equal references one text. It is undefined for a reference that has more than the type and
 * the texts of its keys, because a resolver could use the rest as well, and for one of an unknown type.
 */
function referenceKeysOf(schema: GraphQLSchema): (representation: unknown) => string | undefined {
  const fields = new Map<unknown, ReadonlySet<string>>();
  for (const { name, astNode, extensionASTNodes } of Object.values(schema.getTypeMap())) {
    const directives = [astNode, ...extensionASTNodes].flatMap((node) => node?.directives ?? []);
    const keys = directives
      .filter((directive) => directive.name.value === 'key')
      .flatMap(({ arguments: given = [] }) => given);
    const texts = keys.flatMap(({ value }) => (value.kind === Kind.STRING ? value.value.split(/\s+/) : []));
    if (texts.length > 0) fields.set(name, new Set(['__typename', ...texts]));
  }
  return (representation) => {
    const names = fields.get(Object(representation).__typename);
    if (!names) return undefined;
    const given = Object.entries(Object(representation));
    if (!given.every(([name, value]) => names.has(name) && typeof value === 'string')) return undefined;
    return JSON.stringify(given.sort(([a], [b]) => (a < b ? -1 : 1)));
  };
}

/** The entity with the name of its type, by which the `_Entity` union distinguishes types. */
function withType(entity: unknown, type: string): unknown {
  if (typeof entity !== 'object' || entity === null) return entity;
  return '__typename' in entity && entity.__typename === type ? entity : { ...entity, __typename: type };
}
