import {
  type ApolloGraphQLObjectTypeExtensions,
  buildSubgraphSchema,
  type GraphQLReferenceResolver,
  type GraphQLSchemaModule,
} from '@apollo/subgraph';
import {
  concatAST,
  type DocumentNode,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isObjectType,
  Kind,
  visit,
} from 'graphql';
import { asError, badUserInput } from '../errors.ts';
import { isObject, propertiesOf } from '../runtime/json.ts';
import type { RequestContext } from './context.ts';
import { countList } from './cost.ts';
import { DateTime, JSONObject } from './scalars.ts';
import { requireScope, restrictReferences } from './scopes.ts';
import { typeDefs } from './type-defs.ts';

const SHARED = typeDefs('schema.graphql');

/** The SDL of these modules, with the shared scalars and the imported directives that they use. */
export function documentOf(modules: readonly Pick<GraphQLSchemaModule, 'typeDefs'>[]): DocumentNode {
  const own = concatAST(modules.map((module) => module.typeDefs));
  const used = new Set<string>();
  visit(own, {
    Directive: ({ name }) => void used.add(`@${name.value}`),
    NamedType: ({ name }) => void used.add(name.value),
  });
  const shared = visit(SHARED, {
    ScalarTypeDefinition: ({ name }) => (used.has(name.value) ? undefined : null),
    ListValue: (list) => ({
      ...list,
      values: list.values.filter((item) => 'value' in item && used.has(`${item.value}`)),
    }),
  });
  return concatAST([shared, own]);
}

/** The schema of these modules, such as slices, which share scalars and directives. */
export function schemaOf(modules: readonly GraphQLSchemaModule[]): GraphQLSchema {
  const nothing: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };
  return buildSchema([
    { typeDefs: documentOf(modules), resolvers: { DateTime, JSONObject } },
    ...modules.map((module) => ({ ...module, typeDefs: nothing })),
  ]);
}

/** An executable subgraph schema. It keeps no state of requests. */
export function buildSchema(modules: GraphQLSchemaModule[]): GraphQLSchema {
  const schema = buildSubgraphSchema(modules);
  printSdlOnce(schema);
  isolateRepresentations(schema);
  for (const type of objectsOf(schema))
    for (const field of Object.values(type.getFields())) {
      requireScope(field, type);
      countList(field);
    }
  return schema;
}

const objectsOf = (schema: GraphQLSchema) => Object.values(schema.getTypeMap()).filter(isObjectType);

/** Printing the SDL takes a millisecond, and @apollo/subgraph prints it for each `_service`. */
function printSdlOnce(schema: GraphQLSchema): void {
  const field = schema.getQueryType()?.getFields()['_service'];
  const { resolve } = field ?? {};
  let service: unknown;
  if (field && resolve) field.resolve = (...given) => (service ??= resolve(...given));
}

/**
 * Changes the schema so that `_entities` resolves each representation by itself. In @apollo/subgraph's resolver, an unknown type
 * makes the whole list fail, and a type without a reference resolver returns the caller's own fields.
 */
function isolateRepresentations(schema: GraphQLSchema): void {
  const field = schema.getQueryType()?.getFields()['_entities'];
  // A schema without entities has no such field.
  if (!field) return;
  const resolvers = new Map<unknown, GraphQLReferenceResolver<RequestContext>>();
  for (const type of objectsOf(schema)) {
    // Safe: this is the type that @apollo/subgraph documents for its extensions.
    const { apollo } = type.extensions as ApolloGraphQLObjectTypeExtensions<RequestContext>;
    const resolve = apollo?.subgraph?.resolveReference;
    if (resolve) resolvers.set(type.name, restrictReferences(type, resolve));
  }
  const known = [...resolvers.keys()].join(', ');

  async function resolveOne(representation: unknown, context: RequestContext, info: GraphQLResolveInfo) {
    const { __typename } = propertiesOf(representation);
    const resolve = resolvers.get(__typename);
    if (!resolve) throw badUserInput('representations', `a __typename among ${known}`, 'another or none');
    // Safe: a value with a __typename is an object.
    const entity: unknown = await resolve(representation as object, context, info);
    // The `_Entity` union distinguishes types by `__typename`.
    return isObject(entity) && !('__typename' in entity) ? { ...entity, __typename } : entity;
  }

  // A failure is an Error in the list, which makes only its own entry null. The specification allows a rejected promise as
  // well, but graphql-jit leaves out such an entry if it is the last one, and the router matches entries by position.
  field.resolve = (_root, { representations }: { representations: unknown[] }, context: RequestContext, info) =>
    Promise.all(representations.map((representation) => resolveOne(representation, context, info).catch(asError)));
}
