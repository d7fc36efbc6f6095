import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSubgraphSchema } from '@apollo/subgraph';
import {
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  isAbstractType,
  isObjectType,
  parse,
} from 'graphql';
import { ROOT } from '../children.ts';

/** The schema of `schema/`, as a client sees it. */
const files = globSync('schema/*.graphql', { cwd: ROOT }).sort();
const schema = buildSubgraphSchema([
  { typeDefs: parse(files.map((file) => readFileSync(join(ROOT, file), 'utf8')).join('\n')) },
]);

export function rootType(operation: 'query' | 'mutation'): string {
  return (operation === 'query' ? schema.getQueryType() : schema.getMutationType())?.name ?? '';
}

/** The object types that a type can be: itself, or those of a union or an interface. */
export function possibleTypes(name: string): readonly GraphQLObjectType[] {
  const type = schema.getType(name);
  if (isObjectType(type)) return [type];
  return isAbstractType(type) ? [...schema.getPossibleTypes(type)] : [];
}

/** Throws if the type has no such field. */
export function fieldOf(type: string, field: string): GraphQLField<unknown, unknown> {
  const found = possibleTypes(type)[0]?.getFields()[field];
  if (!found) throw new RangeError(`there is no field ${type}.${field}`);
  return found;
}

export function fieldNames(type: GraphQLObjectType): readonly string[] {
  return Object.keys(type.getFields());
}

/** Does a field of this type need a selection of its own? */
export function isComposite(type: GraphQLNamedType): boolean {
  return isObjectType(type) || isAbstractType(type);
}
