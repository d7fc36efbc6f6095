import { setImmediate } from 'node:timers/promises';
import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { canBeCompiled } from '../../src/graphql/compile.ts';
import { RequestContext } from '../../src/graphql/context.ts';
import { DocumentCache } from '../../src/graphql/document-cache.ts';
import { Execution } from '../../src/graphql/execution.ts';
import { schemaOf } from '../../src/graphql/schema.ts';
import { SLICES } from '../../src/slices.ts';
import { pieces, times } from '../support/times.ts';

/** Which operations are known, and what each of them is in words of the schema. */

const LIMITS = { maxCost: 1_000, maxRepresentations: 10 };
const schema = schemaOf(SLICES);
const started = () =>
  new Execution(schema, LIMITS, new DocumentCache(10_000_000, { hasRouter: true, services: new Map() }));

type KnownOperation = ReturnType<Execution['know']>;

function add(to: Execution, source: string): KnownOperation {
  const document = parse(source);
  const operation = document.definitions.find((definition) => definition.kind === 'OperationDefinition');
  if (!operation) throw new Error('expected an operation');
  return to.know(source, document, operation, { name: 'router', isService: false });
}

/** Nothing that these select asks for its context. */
const CONTEXT: RequestContext = Object.create(RequestContext.prototype);

async function use(known: Execution, one: KnownOperation) {
  for (const _ of times(3, () => 0)) known.finish(one, await known.execute(one, {}, CONTEXT), CONTEXT);
}

test('a document is compiled after its third answer, one in each turn of the event loop, and at most 50 wait', async () => {
  const known = started();
  const all = times(51, (at) => add(known, `{ a${at}: __typename }`));
  for (const one of all) await use(known, one);
  const compiled = () => all.filter(({ code }) => code).length;
  expect(compiled()).toBe(0);
  await setImmediate();
  expect(compiled()).toBe(1);
  await expect.poll(compiled).toBe(50);
  for (const one of all) await use(known, one);
  await expect.poll(compiled).toBe(51);
});

test('a document is not compiled if graphql-js could answer it otherwise', () => {
  for (const [source, isCompiled] of [
    ['query ($t: String!) { deviceFingerprint(token: $t) { __typename } }', true],
    ['{ signalCatalogue(minLevel: HIGH) { code } }', true],
    ['{ a: __typename b: __typename }', false],
    ['{ signalCatalogue { code @skip(if: false) } }', false],
    ['query ($t: String! = "t") { deviceFingerprint(token: $t) { __typename } }', false],
    ['query ($r: _Any!) { _entities(representations: [$r]) { __typename } }', false],
    ['{ constructor: __typename }', false],
    [`{ signalCatalogue { ${pieces(10, (at) => `a${at}: code`)} } }`, false],
  ] as const)
    expect(canBeCompiled(schema, add(started(), source)), source).toBe(isCompiled);
});

test.each([
  ['one field', '{ deviceFingerprint(token: "a") { __typename } }', 'query', 'deviceFingerprint'],
  ['a mutation', 'mutation { validateCaptcha { proceed } }', 'mutation', 'validateCaptcha'],
  ['an alias', '{ made_up: deviceFingerprint(token: "a") { __typename } }', 'query', 'deviceFingerprint'],
  ['a field twice', '{ a: deviceFingerprint b: deviceFingerprint }', 'query', 'deviceFingerprint'],
  ['__typename beside a field', '{ __typename _entities { __typename } }', 'query', '_entities'],
  ['the schema alone', '{ __schema { types { name } } __typename }', 'query', 'introspection'],
  ['different fields', '{ deviceFingerprint signalCatalogue { code } }', 'query', 'several'],
  ['an inline fragment', '{ ... on Query { ... { signalCatalogue { code } } } }', 'query', 'signalCatalogue'],
  [
    'fragments that spread another one',
    'fragment B on Query { signalCatalogue { code } } { ...A ...B } fragment A on Query { ...B }',
    'query',
    'signalCatalogue',
  ],
  [
    'different fields, one of them in a fragment',
    '{ deviceFingerprint ...A } fragment A on Query { signalCatalogue { code } }',
    'query',
    'several',
  ],
])('the kind of an operation with %s', (_what, source, type, field) => {
  expect(add(started(), source).kind).toEqual({ type, field });
});
