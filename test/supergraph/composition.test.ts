import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as apollo from '@apollo/composition';
import * as guild from '@theguild/federation-composition';
import * as cosmo from '@wundergraph/composition';
import {
  buildASTSchema,
  buildSchema,
  type DocumentNode,
  type GraphQLSchema,
  isEnumType,
  isTypeSystemDefinitionNode,
  isUnionType,
  Kind,
  parse,
  print,
  visit,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { readPage } from '../docs/markdown.ts';
import { ROOT } from '../support/process.ts';
import { readSubgraphs } from './public-schema.ts';

/**
 * The three subgraphs as each of three composers takes them, whole and in the variants that browsers get: without the tag `risk`, and without `billed` as well. One
 * list says what that is of this subgraph, down to the values of enums: their descriptions teach an attacker as well.
 */

const EXPECTED: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/public-contract.json'), 'utf8'),
);

type Services = ReturnType<typeof readSubgraphs>;
interface Composer {
  /** What it complains of: errors, and hints or warnings. */
  readonly complaints: (services: Services) => readonly unknown[];
  /** Gives what clients see without what has one of these tags. Throws if there is a complaint. */
  readonly contract: (services: Services, excluded: readonly string[]) => GraphQLSchema;
}

const COMPOSERS: Readonly<Record<string, Composer>> = {
  '@apollo/composition': {
    complaints: (services) => {
      const { errors = [], hints = [] } = apollo.composeServices(services);
      return [...errors, ...hints];
    },
    // GraphOS makes everything with the tag inaccessible; the package has no function for it, so the directive is written
    // beside each tag. Composition then refuses whatever would refer to something that is gone.
    contract: (services, excluded) => {
      const hidden = services.map((service) => ({ ...service, typeDefs: hide(service.typeDefs, excluded) }));
      const { errors = [], schema } = apollo.composeServices(hidden);
      if (!schema) throw new AggregateError(errors, errors.join('\n'));
      return schema.toAPISchema().toGraphQLJSSchema();
    },
  },
  '@theguild/federation-composition': {
    complaints: (services) => guild.composeServices(services).errors ?? [],
    contract: (services, excluded) => {
      const tags = { exclude: new Set(excluded), include: new Set<string>() };
      const { errors = [], publicSdl } = guild.composeSchemaContract(services, tags, false);
      if (!publicSdl) throw new AggregateError(errors, errors.join('\n'));
      return buildSchema(publicSdl);
    },
  },
  '@wundergraph/composition': {
    complaints: (services) => {
      const result = cosmo.federateSubgraphs({ subgraphs: forCosmo(services), version });
      return result.success ? result.warnings : result.errors;
    },
    contract: (services, excluded) => {
      const contractTagOptions = { tagNamesToExclude: new Set(excluded), tagNamesToInclude: new Set<string>() };
      const subgraphs = forCosmo(services);
      const result = cosmo.federateSubgraphsContract({ subgraphs, contractTagOptions, version });
      if (!result.success) throw new AggregateError(result.errors, result.errors.join('\n'));
      return result.federatedGraphClientSchema;
    },
  },
};
const version = cosmo.ROUTER_COMPATIBILITY_VERSION_ONE;
const forCosmo = (services: Services) =>
  services.map(({ name, url, typeDefs }) => ({ name, url, definitions: typeDefs }));

const services = readSubgraphs();
/** With it as the tag to exclude, a contract has everything. */
const NO_TAG = ['a-tag-that-nothing-has'];
/** A subgraph of a fourth team, with the plain names that nobody owns. Ours would merge with these, without any complaint. */
const FLEET = {
  name: 'fleet',
  url: 'http://fleet:4004/graphql',
  typeDefs: parse(`
    extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])
    type Query { fleet: [Device!]! }
    type Device @key(fields: "serial") {
      serial: ID! browser: Browser system: OperatingSystem runs: ClientType problems: [FieldError!] todo: RiskAction shows: SignalEffect
    }
    type Browser { engine: String }
    type OperatingSystem { kernel: String }
    type FieldError { path: [String!] }
    enum ClientType { KIOSK }
    enum RiskAction { REBOOT }
    enum SignalEffect { BLINKS }
  `),
};
/** The schemas that the pages show to other teams. */
const SNIPPETS = ['README.md', ...globSync('schema/*.md', { cwd: ROOT })].flatMap((path) =>
  readPage(path).blocks.flatMap(({ language, text }) => {
    const typeDefs = language === 'graphql' ? parse(text) : undefined;
    return typeDefs?.definitions.some(isTypeSystemDefinitionNode) ? [{ path, typeDefs }] : [];
  }),
);
/** The types that this subgraph defines, and fields of the root types. What neighbours alone define is theirs. */
const ours = definedBy('device-trust');
const theirs = definedBy('users', 'orders');

describe.each(Object.entries(COMPOSERS))('composed by %s', (_name, { complaints, contract }) => {
  test('the supergraph has no error and no hint', () => {
    expect(complaints(services)).toEqual([]);
  });

  test('without the tag `risk` it is what the list says, and no more', () => {
    expect(contractOf(contract(services, ['risk']))).toEqual(EXPECTED);
  });

  test('without the tag `billed` as well, no page asks about a device, and captchas stay', () => {
    const { Query = [], Mutation } = typesOf(contract(services, ['risk', 'billed']));
    expect([Query, Mutation]).toEqual([['me'], ['placeOrder', 'validateCaptcha']]);
  });

  test.each(SNIPPETS)('the schema that $path shows composes with ours alone, and for browsers', ({ typeDefs }) => {
    const both = [...services.slice(0, 1), { name: 'other', url: 'http://other:4004/graphql', typeDefs }];
    expect(complaints(both)).toEqual([]);
    expect(typesOf(contract(both, ['risk', 'billed']))).toMatchObject({ Query: [expect.any(String)] });
  });

  test('for browsers, a field of another team that returns a device and has no tag is refused', () => {
    const untagged = services.map(({ typeDefs, ...service }) => ({
      ...service,
      typeDefs: parse(print(typeDefs).replace(/(Fingerprint: DeviceFingerprint) @tag\(name: "risk"\)/, '$1')),
    }));
    expect(() => contract(untagged, ['risk', 'billed'])).toThrow('Session.deviceFingerprint');
  });

  test('beside a neighbour with types of plain names, nothing of theirs is in ours, and nothing of ours in theirs', () => {
    const [ours, theirs] = [contract(services, NO_TAG), buildASTSchema(FLEET.typeDefs, { assumeValidSDL: true })];
    const together = [...services, FLEET];
    expect(complaints(together)).toEqual([]);
    const { Query: ourQueries = [], ...ourTypes } = typesOf(ours);
    const { Query: theirQueries = [], ...theirTypes } = typesOf(theirs);
    expect(typesOf(contract(together, NO_TAG))).toEqual({
      ...ourTypes,
      ...theirTypes,
      Query: [...ourQueries, ...theirQueries].sort(),
    });
  });
});

/** The types of this subgraph. */
function contractOf(schema: GraphQLSchema) {
  const named = Object.entries(typesOf(schema)).filter(([name]) => ours.has(name) || !theirs.has(name));
  return Object.fromEntries(
    named.map(([name, members]) => {
      const shared = (/^(Query|Mutation)$/.test(name) && theirs.get(name)) || new Set();
      return [name, members.filter((member) => !shared.has(member))];
    }),
  );
}

/** The types that are not GraphQL's own, each with its fields, values or members. */
function typesOf(schema: GraphQLSchema): Record<string, string[]> {
  const named = Object.values(schema.getTypeMap()).filter(
    ({ name }) => !/^(__.*|String|Int|Float|Boolean|ID)$/.test(name),
  );
  return Object.fromEntries(named.map((type) => [type.name, membersOf(type)]));
}

function membersOf(type: ReturnType<GraphQLSchema['getTypeMap']>[string]): string[] {
  const namesOf = (named: readonly { readonly name: string }[]) => named.map(({ name }) => name).sort();
  if (isUnionType(type)) return namesOf(type.getTypes());
  if (isEnumType(type)) return namesOf(type.getValues());
  return 'getFields' in type ? Object.keys(type.getFields()).sort() : [];
}

/** Names of the types that these subgraphs define, each with its fields. */
function definedBy(...names: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const fields = new Map<string, Set<string>>();
  for (const definition of services.flatMap(({ name, typeDefs }) =>
    names.includes(name) ? typeDefs.definitions : [],
  )) {
    if (!('name' in definition) || !definition.name) continue;
    const added = 'fields' in definition ? (definition.fields ?? []).map(({ name }) => name.value) : [];
    fields.set(definition.name.value, new Set([...(fields.get(definition.name.value) ?? []), ...added]));
  }
  return fields;
}

/** Writes `@inaccessible` beside each of these tags, and imports it where `@tag` is imported and it is not. */
function hide(document: DocumentNode, tags: readonly string[]): DocumentNode {
  const inaccessible = { kind: Kind.DIRECTIVE, name: { kind: Kind.NAME, value: 'inaccessible' } } as const;
  return visit(document, {
    ListValue: (node) => {
      const imported = node.values.flatMap((value) => (value.kind === Kind.STRING ? [value.value] : []));
      if (!imported.includes('@tag') || imported.includes('@inaccessible')) return undefined;
      return { ...node, values: [...node.values, { kind: Kind.STRING, value: '@inaccessible' } as const] };
    },
    enter(node) {
      const isTagged =
        'directives' in node &&
        node.directives?.some(
          ({ name, arguments: [given] = [] }) =>
            name.value === 'tag' && given?.value.kind === Kind.STRING && tags.includes(given.value.value),
        );
      return isTagged ? { ...node, directives: [...(node.directives ?? []), inaccessible] } : undefined;
    },
  });
}
