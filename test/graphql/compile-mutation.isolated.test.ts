import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { buildSchema, type GraphQLResolveInfo, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { type CompiledOperation, compile } from '../../src/graphql/compile.ts';
import type { GraphQLContext } from '../../src/graphql/context.ts';

const schema = buildSchema(`
  type Query { read: Int }
  type Mutation { write(value: Int): Int }
`);
/** The parent types and the values of the calls, and when each begins and ends. */
const seen: string[] = [];
const field = schema.getMutationType()?.getFields()['write'];
if (field) {
  field.resolve = async (_root, { value }, _context, { parentType }: GraphQLResolveInfo) => {
    seen.push(`${parentType} begins ${value}`);
    await new Promise((ok) => setImmediate(ok));
    seen.push(`${parentType} ends ${value}`);
    return value;
  };
}

function compiled(document: string): CompiledOperation {
  const operation = compile(schema, parse(document));
  if (!operation) throw new Error('expected an operation that can be compiled');
  return operation;
}

/** Sound: the resolver above looks at no context. */
const contextWith = (content: object) => content as GraphQLContext;

describe('a compiled mutation', () => {
  test.each([
    'mutation ($v: Int) { write(value: $v) }',
    'mutation ($v: Int) { ...F } fragment F on Mutation { write(value: $v) }',
  ])('of one field is still a mutation: %s', async (document) => {
    seen.length = 0;
    const operation = compiled(document);
    expect(operation.kind.type).toBe('mutation');
    expect(await operation.execute(contextWith({}), { v: 1 })).toEqual({ data: { write: 1 } });
    expect(seen).toEqual(['Mutation begins 1', 'Mutation ends 1']);
  });

  test('of two fields executes them one after another', async () => {
    seen.length = 0;
    const operation = compiled('mutation { a: write(value: 1) b: write(value: 2) }');
    expect(await operation.execute(contextWith({}), {})).toEqual({ data: { a: 1, b: 2 } });
    expect(seen).toEqual(['Mutation begins 1', 'Mutation ends 1', 'Mutation begins 2', 'Mutation ends 2']);
  });

  test('of one field leaves nothing of its context behind that a full garbage collection has to find', async () => {
    setFlagsFromString('--expose-gc');
    // Sound: with the flag a new realm has this function.
    const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void;
    const operation = compiled('mutation ($v: Int) { write(value: $v) }');
    const execute = () => operation.execute(contextWith({ numbers: new Array(1_000).fill(0) }), { v: 1 });
    for (let at = 0; at < 500; at += 1) await execute();
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let at = 0; at < 2_000; at += 1) {
      await execute();
      if (at % 200 === 199) collect({ type: 'minor' });
    }
    // Each context has 8,000 bytes.
    expect((process.memoryUsage().heapUsed - before) / 2_000).toBeLessThan(1_000);
  });
});
