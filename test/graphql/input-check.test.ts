import { buildSchema, coerceInputValue, type GraphQLInputType, isInputType, parseType, typeFromAST } from 'graphql';
import { describe, expect, test } from 'vitest';
import { inputCheckOf } from '../../src/graphql/input-check.ts';

/** A value is valid if graphql-js accepts it, for every kind of input type. */

const schema = buildSchema(`
  type Query { a: Int }
  enum Level { LOW HIGH }
  input Inner { text: String! level: Level = LOW many: [Int!] }
  input Outer { inner: Inner! id: ID more: [Inner] flag: Boolean weight: Float }
  input Tree { name: String! branches: [Tree!] }
  input Either @oneOf { a: String b: Int }
`);

const VALUES: readonly unknown[] = [
  ...[undefined, null, '', 'LOW', 'low', 0, -0, 7, 1.5, 2 ** 31, Number.NaN, true, [], {}, [[]], [null], ['a', 1], [3]],
  { text: 'a' },
  { text: null },
  { text: 'a', level: 'LOW', many: [1, 2] },
  { text: 'a', level: null, many: null },
  { text: 'a', many: 3 },
  { text: 'a', many: [null] },
  { text: 'a', other: 1 },
  { inner: { text: 'a' } },
  { inner: { text: 'a' }, id: 5, more: { text: 'b' }, flag: false },
  { inner: { text: 'a' }, more: [null, { text: 'b' }] },
  { inner: { text: 'a' }, more: [[{ text: 'b' }]] },
  { inner: [{ text: 'a' }] },
  { name: 'a', branches: [{ name: 'b', branches: [{ name: 'c' }] }] },
  { name: 'a', branches: [{ name: 'b', branches: [{ name: 5 }] }] },
  JSON.parse('{"text":"a","__proto__":1}'),
  JSON.parse('{"text":"a","constructor":{"a":1}}'),
];

const takes = (value: unknown, type: GraphQLInputType): boolean => {
  let isTaken = true;
  coerceInputValue(value, type, () => {
    isTaken = false;
  });
  return isTaken;
};

const typeCalled = (name: string): GraphQLInputType => {
  const type = typeFromAST(schema, parseType(name));
  if (!isInputType(type)) throw new Error(`${name} is no input type`);
  return type;
};

describe('a value fits where graphql-js takes it', () => {
  const NAMES = ['String', 'ID', 'Int', 'Float', 'Boolean', 'Level', 'Inner', 'Outer', 'Tree'];
  test.each(NAMES.flatMap((name) => [name, `${name}!`, `[${name}]`, `[${name}!]!`, `[[${name}]]`]))('%s', (name) => {
    const type = typeCalled(name);
    const fits = inputCheckOf(type);
    for (const value of VALUES) expect(fits(value), JSON.stringify(value)).toBe(takes(value ?? null, type));
    expect(VALUES.some((value) => fits(value))).toBe(true);
    expect(VALUES.some((value) => !fits(value))).toBe(true);
  });

  test('no value of a @oneOf type passes, so that graphql-js checks it', () => {
    const fits = inputCheckOf(typeCalled('Either!'));
    for (const value of [{ a: 'x' }, { b: 1 }, { a: 'x', b: 1 }, {}, { a: null }]) expect(fits(value)).toBe(false);
  });
});
