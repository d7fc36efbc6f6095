import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildASTSchema,
  type GraphQLSchema,
  isEnumType,
  isTypeSystemDefinitionNode,
  isUnionType,
  parse,
  print,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { readPage } from '../docs/markdown.ts';
import { ROOT } from '../support/process.ts';
import { readSubgraphs } from './public-schema.ts';

/**
 * The three subgraphs as a composer takes them, whole and in the variants that browsers get: without the tag `risk`, and
 * without `billed` as well. One list says what they read of this subgraph, down to the values of enums: their descriptions
 * teach an attacker as well.
 */

const EXPECTED: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(join(import.meta.dirname, '../fixtures/public-contract.json'), 'utf8'),
);

/** The same with its neighbours. */
const NEIGHBOURS = {
  Query: ['deviceFingerprint', 'me'],
  Mutation: ['placeOrder', 'validateCaptcha'],
  ChallengeReason: ['EXPIRED', 'INVALID', 'MISSING', 'SPENT'],
  ChallengeRequired: ['action', 'audience', 'reason'],
  Order: ['customer', 'id', 'item', 'priceCents'],
  OrderPlaced: ['order'],
  OrderRefusalCode: ['UNDER_REVIEW', 'UNKNOWN_ITEM', 'UNVERIFIED'],
  OrderRefused: ['code'],
  PlaceOrderResult: ['ChallengeRequired', 'OrderPlaced', 'OrderRefused'],
  Session: ['id'],
  User: ['id', 'name', 'orders', 'sessions'],
};

export type Services = ReturnType<typeof readSubgraphs>;
export interface Composer {
  /** What it complains of: errors, and hints or warnings. */
  readonly complaints: (services: Services) => readonly unknown[];
  /** Gives what clients see without what has one of these tags. Throws if there is a complaint. */
  readonly contract: (services: Services, excluded: readonly string[]) => GraphQLSchema;
}

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

export function describeComposer(name: string, { complaints, contract }: Composer): void {
  describe(`composed by ${name}`, () => {
    test('the supergraph has no error and no hint', () => {
      expect(complaints(services)).toEqual([]);
    });

    test('the graph for browsers, without the tag `risk`, has the listed fields and no more, and every input', () => {
      const inputs = Object.entries(typesOf(contract(services, NO_TAG))).filter(([name]) => name.endsWith('Input'));
      expect(typesOf(contract(services, ['risk']))).toEqual({
        ...EXPECTED,
        ...NEIGHBOURS,
        ...Object.fromEntries(inputs),
      });
    });

    test('the graph without the tags `risk` and `billed` has captchas, and no question about a device', () => {
      const { Query = [], Mutation } = typesOf(contract(services, ['risk', 'billed']));
      expect([Query, Mutation]).toEqual([['me'], ['placeOrder', 'validateCaptcha']]);
    });

    test('without the tag `billed` alone, nothing makes an event, and stored judgements stay', () => {
      const { Query, DeviceFingerprint, DeviceJudgement } = typesOf(contract(services.slice(0, 1), ['billed']));
      expect([Query, DeviceFingerprint]).toEqual([['signalCatalogue'], undefined]);
      expect(DeviceJudgement).toContain('signals');
    });

    test.each(SNIPPETS)('the schema that $path shows composes with ours alone, and for browsers', ({ typeDefs }) => {
      const both = [...services.slice(0, 1), { name: 'other', url: 'http://other:4004/graphql', typeDefs }];
      expect(complaints(both)).toEqual([]);
      expect(typesOf(contract(both, ['risk', 'billed']))).toMatchObject({ Query: [expect.any(String)] });
    });

    test('a field of another team that returns a device and has no tag is refused in the graph for browsers', () => {
      const untagged = services.map(({ typeDefs, ...service }) => ({
        ...service,
        typeDefs: parse(print(typeDefs).replace(/(Fingerprint: DeviceFingerprint) @tag\(name: "risk"\)/, '$1')),
      }));
      expect(() => contract(untagged, ['risk', 'billed'])).toThrow('Session.deviceFingerprint');
    });

    test('types with plain names of another team do not merge with ours', () => {
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
