import { type ConstDirectiveNode, type DocumentNode, Kind, parse, print, specifiedDirectives, visit } from 'graphql';
import { SUBGRAPH_DOCUMENT } from './subgraph.ts';

/** `npm run schema` prints the schema for code generators, which know no directive of federation. */

const USAGE = `npm run -s schema              for clients of the graph
npm run -s schema -- services  for services that call without a router, with _entities`;

/** Directives that every tool knows. */
const STANDARD: ReadonlySet<string> = new Set(specifiedDirectives.map(({ name }) => name));

const [audience = 'clients', ...others] = process.argv.slice(2);
if (others.length > 0 || !['clients', 'services'].includes(audience)) {
  process.stderr.write(`${USAGE}\n`);
  process.exitCode = 1;
} else {
  const isForClients = audience === 'clients';
  const plain = visit(isForClients ? SUBGRAPH_DOCUMENT : withEntities(SUBGRAPH_DOCUMENT), {
    SchemaExtension: () => null,
    FieldDefinition: ({ directives }) =>
      isForClients && named('inaccessible', directives).length > 0 ? null : undefined,
    Directive: ({ name }) => (STANDARD.has(name.value) ? undefined : null),
  });
  process.stdout.write(`${print(plain)}\n`);
}

/** With the field for references that `@apollo/subgraph` adds to the schema, and each kind of reference in the text of `_Any`. */
function withEntities(document: DocumentNode): DocumentNode {
  const references = document.definitions.flatMap((type) => {
    if (type.kind !== Kind.OBJECT_TYPE_DEFINITION) return [];
    return named('key', type.directives).flatMap((key) => {
      const { fields, resolvable } = argumentsOf(key);
      return resolvable === false ? [] : [{ name: type.name.value, keys: String(fields).split(' ') }];
    });
  });
  const examples = references.map(({ name, keys }) => {
    const values = keys.map((key) => `, "${key}": "…"`).join('');
    return `- \`{ "__typename": "${name}"${values} }\``;
  });
  const added = parse(`
"""
A reference to an entity:

${examples.join('\n')}
"""
scalar _Any

union _Entity = ${[...new Set(references.map(({ name }) => name))].join(' | ')}

type Query {
  "The entities of these references, in their order. One that fails is null, with an entry in \`errors\`."
  _entities(representations: [_Any!]!): [_Entity]!
}
`);
  const [any, entity, query] = added.definitions;
  if (!any || !entity || query?.kind !== Kind.OBJECT_TYPE_DEFINITION) throw new Error('expected three definitions');
  const definitions = document.definitions.map((type) =>
    type.kind === Kind.OBJECT_TYPE_DEFINITION && type.name.value === 'Query'
      ? { ...type, fields: [...(type.fields ?? []), ...(query.fields ?? [])] }
      : type,
  );
  return { ...document, definitions: [...definitions, any, entity] };
}

function named(name: string, directives: readonly ConstDirectiveNode[] = []): readonly ConstDirectiveNode[] {
  return directives.filter((directive) => directive.name.value === name);
}

function argumentsOf({ arguments: given = [] }: ConstDirectiveNode): Record<string, unknown> {
  return Object.fromEntries(given.map(({ name, value }) => [name.value, 'value' in value ? value.value : undefined]));
}
