import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ask, post } from '../support/graphql.ts';
import { startSuiteSupergraph } from './supergraph.ts';

/**
 * Apollo's federation subgraph compatibility suite: the compiled tests of its package, unchanged, which here find the
 * globals of Jest that they were written for in Vitest, and our server where they expect one.
 */

const require = createRequire(import.meta.url);
const DIST = dirname(require.resolve('@apollo/federation-subgraph-compatibility-tests'));

/** What this server refuses on purpose. The suite's test has to fail: if it passes, the refusal is gone. */
const REFUSED: Readonly<Record<string, string>> = {
  ftv1: 'An inline trace answers any caller that sends a header, and tells it how the work is done and how long it takes.',
};

const supergraph = await startSuiteSupergraph();
afterAll(() => supergraph.stop());

const names: string[] = [];
const register = (name: string, run: () => unknown) => {
  names.push(name);
  (REFUSED[name] ? test.fails : test)(name, async () => {
    await run();
  });
};

Object.assign(globalThis, { describe, expect, test: register, it: register });
// Both addresses belong to the suite's HTTP client: one it reads when it is loaded, the other is a constant among its
// exports, which it looks up there for each request.
process.env['PRODUCTS_URL'] = supergraph.productsUrl;
const client: { ROUTER_URL: string } = require(join(DIST, 'utils/client.js'));
client.ROUTER_URL = supergraph.gatewayUrl;

describe('federation subgraph compatibility', () => {
  for (const file of readdirSync(join(DIST, 'tests')).filter((name) => name.endsWith('.test.js'))) {
    require(join(DIST, 'tests', file));
  }
});

describe('the suite is what it should be', () => {
  test('23 tests, and every refusal belongs to one of them', () => {
    expect(names).toHaveLength(23);
    expect(names).toEqual(expect.arrayContaining(Object.keys(REFUSED)));
  });

  test('ftv1 fails for want of a trace and for nothing else', async () => {
    const query = JSON.stringify({ query: '{ __typename }' });
    const { status, text } = await post(supergraph.productsUrl, query, { 'apollo-federation-include-trace': 'ftv1' });
    expect({ status, body: JSON.parse(text) }).toEqual({ status: 200, body: { data: { __typename: 'Query' } } });
  });

  test('the server is ours: a reference of an unknown type spoils its own entry alone', async () => {
    const representations = [{ __typename: 'Nothing' }, { __typename: 'User', email: 'support@apollographql.com' }];
    const { data, errors } = await ask(
      supergraph.productsUrl,
      'query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on User { name } } }',
      { representations },
    );
    expect(data).toEqual({ _entities: [null, { name: 'Jane Smith' }] });
    expect(errors).toMatchObject([
      { path: ['_entities', 0], extensions: { code: 'BAD_USER_INPUT', retryable: false } },
    ]);
  });
});
