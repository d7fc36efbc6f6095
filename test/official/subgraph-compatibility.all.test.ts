import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ask } from '../support/requests.ts';
import { DIST, suite } from './suite.ts';
import { startSuiteSupergraph } from './supergraph.ts';

/**
 * Apollo's federation subgraph compatibility suite: the compiled tests of its package, unchanged, which here find the
 * globals of Jest that they were written for in Vitest, and our server, behind a router's secret, where they expect one.
 */

const supergraph = await startSuiteSupergraph();
afterAll(() => supergraph.stop());

const names: string[] = [];
const register = (name: string, run: () => unknown) => {
  names.push(name);
  test(name, async () => {
    await run();
  });
};

Object.assign(globalThis, { describe, expect, test: register, it: register });
// Both addresses belong to the suite's HTTP client: one it reads when it is loaded, the other is a constant among its
// exports, which it looks up there for each request.
process.env['PRODUCTS_URL'] = supergraph.productsUrl;
const client: { ROUTER_URL: string } = suite(join(DIST, 'utils/client.js'));
client.ROUTER_URL = supergraph.gatewayUrl;

describe('federation subgraph compatibility', () => {
  for (const file of readdirSync(join(DIST, 'tests')).filter((name) => name.endsWith('.test.js'))) {
    suite(join(DIST, 'tests', file));
  }
});

describe('the suite is what it should be', () => {
  test('23 tests', () => {
    expect(names).toHaveLength(23);
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
