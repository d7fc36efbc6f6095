import { parse, print } from 'graphql';
import { gql } from 'graphql-tag';
import { afterAll, describe, expect, test } from 'vitest';
import { buildSchema } from '../../src/graphql/schema.ts';
import { post } from '../support/requests.ts';
import { startServer } from '../support/server.ts';

/** What the tag `risk` does in any schema: to references of a type that has it, and where it cannot be kept. */

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@tag"])';

describe('references to a type with the tag', async () => {
  const opened: unknown[] = [];
  const typeDefs = gql(`${LINK}
    type Query { a: Int }
    type Secret @key(fields: "id") @tag(name: "risk") { id: ID! text: String! }
    type Public @key(fields: "id") { id: ID! secret: Secret }
  `);
  const open = async ({ id }: { id?: unknown }) => {
    opened.push(id);
    return { id, text: 'what nobody may read' };
  };
  const resolvers = {
    Secret: { __resolveReference: open },
    Public: { __resolveReference: async ({ id }: { id?: unknown }) => ({ id, secret: { id, text: 'nor this' } }) },
  };
  const service = (name: string, scopes: string[]) => ({ name, secret: `the-secret-of-${name}`, scopes });
  const server = await startServer([{ typeDefs, resolvers }], {
    services: [service('desk', ['risk:read']), service('shop', [])],
  });
  afterAll(() => server.stop());

  const query = `query ($r: [_Any!]!) {
    _entities(representations: $r) { ... on Secret { id text } ... on Public { id secret { text } } }
  }`;
  const r = ['Secret', 'Public', 'Secret'].map((type, at) => ({ __typename: type, id: `${at}` }));
  const ask = (name: string) =>
    post(server.graphqlUrl, JSON.stringify({ query, variables: { r } }), {
      authorization: `Bearer the-secret-of-${name}`,
    });

  test.each([1, 2, 3, 4, 5])(
    'are null with FORBIDDEN without the scope, and are not resolved (request %i)',
    async () => {
      opened.length = 0;
      const { data, errors = [], text } = await ask('shop');
      expect(data._entities).toEqual([null, { id: '1', secret: null }, null]);
      expect(errors.map(({ path, extensions }) => [path, extensions.code])).toEqual([
        [['_entities', 0], 'FORBIDDEN'],
        [['_entities', 1, 'secret'], 'FORBIDDEN'],
        [['_entities', 2], 'FORBIDDEN'],
      ]);
      expect(opened).toEqual([]);
      expect(text).not.toMatch(/nobody|nor this/);
    },
  );

  test('are resolved with the scope', async () => {
    const { data, errors } = await ask('desk');
    expect(errors).toBeUndefined();
    expect(data._entities[0]).toEqual({ id: '0', text: 'what nobody may read' });
    expect(opened).toEqual(['0', '2']);
  });
});

describe('the schema refuses to be built', () => {
  const build = (sdl: string) => buildSchema([{ typeDefs: gql(print(parse(sdl))), resolvers: {} }]);
  const ENTITY = 'type Thing @key(fields: "id") { id: ID! }';
  test.each([
    [
      'a field with the tag that cannot be null',
      `type Query { a: Int! @tag(name: "risk") } ${ENTITY}`,
      'expected a nullable type of Query.a',
    ],
    [
      'a field of a type with the tag that cannot be null',
      `type Query { a: A! } type A @tag(name: "risk") { b: Int } ${ENTITY}`,
      'expected a nullable type of Query.a',
    ],
    [
      'a union that leads to such a type',
      `type Query { u: U } union U = A | Thing type A @tag(name: "risk") { b: Int } ${ENTITY}`,
      'expected U to have the tag risk as A does',
    ],
  ])('with %s', (_what, sdl, message) => {
    expect(() => build(`${LINK} ${sdl}`)).toThrow(message);
  });
});
