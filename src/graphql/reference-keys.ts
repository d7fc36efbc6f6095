import { type GraphQLSchema, Kind } from 'graphql';

/**
 * Makes the function that gives equal references one text. It is undefined for a reference that has more than the type and
 * the texts of its keys, because a resolver could use the rest as well, and for one of an unknown type.
 */
export function referenceKeysOf(schema: GraphQLSchema): (representation: unknown) => string | undefined {
  const fields = new Map<unknown, readonly string[]>();
  for (const { name, astNode, extensionASTNodes } of Object.values(schema.getTypeMap())) {
    const directives = [astNode, ...extensionASTNodes].flatMap((node) => node?.directives ?? []);
    const keys = directives
      .filter((directive) => directive.name.value === 'key')
      .flatMap(({ arguments: given = [] }) => given);
    const names = keys.flatMap(({ value }) => (value.kind === Kind.STRING ? value.value.split(/\s+/) : []));
    if (names.length > 0) fields.set(name, [...new Set(names)]);
  }
  return (representation) => {
    const given = Object(representation);
    const names = fields.get(given.__typename);
    if (!names) return undefined;
    let key: string = given.__typename;
    let count = 1;
    for (const name of names) {
      const value: unknown = given[name];
      if (value === undefined) key += ' -';
      else if (typeof value !== 'string') return undefined;
      else {
        // The length says where a text ends, whatever is in it.
        key += ` ${value.length}:${value}`;
        count += 1;
      }
    }
    return Object.keys(given).length === count ? key : undefined;
  };
}
