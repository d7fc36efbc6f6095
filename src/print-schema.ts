import {
  type ConstDirectiveNode,
  concatAST,
  type DocumentNode,
  Kind,
  parse,
  print,
  specifiedDirectives,
  valueFromASTUntyped,
  visit,
} from 'graphql';
import { SLICES } from './slices.ts';
import { documentOf, withMergedRoots } from './subgraph.ts';

/** `npm run schema` prints the schema for code generators, which know no directive of federation. */

const NAMES = SLICES.map(({ name }) => name);
const USAGE = `npm run -s schema              for clients of the graph
npm run -s schema -- services  for services that call without a router, with _entities
Add ${NAMES.join(' or ')} for the schema of that service alone.`;

/** Directives that every tool knows. */
const STANDARD: ReadonlySet<string> = new Set(specifiedDirectives.map(({ name }) => name));

const words = process.argv.slice(2);
const [audience = 'clients', ...others] = words.filter((word) => !NAMES.some((name) => name === word));
if (others.length > 0 || !['clients', 'services'].includes(audience)) {
  process.stderr.write(`${USAGE}\n`);
  process.exitCode = 1;
} else {
  const isForClients = audience === 'clients';
  const chosen = SLICES.filter(({ name }) => words.includes(name));
  const document = documentOf(chosen.length > 0 ? chosen : SLICES);
  const plain = visit(withQuery(isForClients ? document : withEntities(document)), {
    SchemaExtension: () => null,
    FieldDefinition: ({ directives }) =>
      isForClients && named('inaccessible', directives).length > 0 ? null : undefined,
    Directive: ({ name }) => (STANDARD.has(name.value) ? undefined : null),
  });
  process.stdout.write(`${print(plain)}\n`);
}

/** GraphQL requires a query. A subgraph without a query of its own has the query that `@apollo/subgraph` adds for routers. */
function withQuery(document: DocumentNode): DocumentNode {
  if (document.definitions.some((type) => 'name' in type && type.name?.value === 'Query')) return document;
  return concatAST([document, parse('type Query { _service: _Service! } type _Service { sdl: String! }')]);
}

/** Adds the field for references, as `@apollo/subgraph` does, and describes each kind of reference at `_Any`. */
function withEntities(document: DocumentNode): DocumentNode {
  const references = document.definitions.flatMap((type) => {
    if (type.kind !== Kind.OBJECT_TYPE_DEFINITION) return [];
    return named('key', type.directives).flatMap(({ arguments: given = [] }) => {
      const { fields, resolvable } = Object.fromEntries<unknown>(
        given.map(({ name, value }) => [name.value, valueFromASTUntyped(value)]),
      );
      return resolvable === false ? [] : [{ name: type.name.value, keys: String(fields).split(' ') }];
    });
  });
  if (references.length === 0) return document;
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
  return { ...document, definitions: withMergedRoots([...document.definitions, ...added.definitions]) };
}

function named(name: string, directives: readonly ConstDirectiveNode[] = []): readonly ConstDirectiveNode[] {
  return directives.filter((directive) => directive.name.value === name);
}
