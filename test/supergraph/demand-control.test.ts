import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { buildSchema, parse } from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { readPage } from '../docs/markdown.ts';
import { json, request } from '../support/requests.ts';
import { CROSS_SUBGRAPH_QUERY } from './cross-subgraph-query.ts';
import { signIn, startConfiguredGateway } from './hive-gateway.ts';
import { costOfRequest } from './static-cost.ts';
import { subgraphHeaders } from './subgraph-headers.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/**
 * The figures of `deploy/router/README.md` for demand control. They are worked out there by hand. Here the documented rules
 * are applied to the requests of Apollo's planner, and Hive Gateway says its own estimate.
 */

/** What the files of `deploy/router/` assume for lists without `@listSize`. */
const LIST_SIZE = 10;
const PAGE = readPage('deploy/router/README.md');
const OPERATIONS: Readonly<Record<string, string>> = {
  Crossing: CROSS_SUBGRAPH_QUERY,
  ...Object.fromEntries(
    PAGE.blocks.filter(({ language }) => language === 'graphql').map(({ text }) => [nameOf(text), text]),
  ),
};

const ANALYST = { id: 'user-1', scopes: 'risk:read' };
const supergraph = await startTestSupergraph();
const schema = buildSchema(supergraph.supergraphSdl, { assumeValid: true });
const costs: [subgraph: string, cost: number][] = [];
const apollo = new ApolloServer({
  gateway: new ApolloGateway({
    supergraphSdl: supergraph.supergraphSdl,
    buildService: ({ name, url = '' }) =>
      new RemoteGraphQLDataSource({
        url,
        willSendRequest: ({ request: sent }) => {
          costs.push([name, costOfRequest(schema, sent.query ?? '', LIST_SIZE)]);
          for (const header of Object.entries(subgraphHeaders(name, ANALYST))) sent.http?.headers.set(...header);
        },
      }),
  }),
  stopOnTerminationSignals: false,
});
await apollo.start();
const hive = await startConfiguredGateway(supergraph.supergraphSdl);
afterAll(async () => {
  await Promise.all([apollo.stop(), hive.stop()]);
  await supergraph.stop();
});

describe.each(PAGE.rowsOf('operation', 'all subgraphs', 'device-trust', 'Hive Gateway'))('%s', (title, ...figures) => {
  const [all, own, estimated] = figures.map(Number);
  const query = OPERATIONS[title.replaceAll('`', '')] ?? '';

  test('by the documented rules', async () => {
    costs.length = 0;
    const { body } = await apollo.executeOperation({ query });
    expect(body).toMatchObject({ kind: 'single', singleResult: { errors: undefined } });
    expect(sum(costs)).toBe(all);
    expect(sum(costs.filter(([name]) => name === 'device-trust'))).toBe(own);
  });

  test('as Hive Gateway estimates it', async () => {
    const headers = { authorization: `Bearer ${await signIn('user-1', 'risk:read')}` };
    const { text } = await request(hive.url, json(JSON.stringify({ query }), headers));
    expect(JSON.parse(text)).toMatchObject({ extensions: { cost: { estimated, max: 1_000 } } });
  });
});

const sum = (entries: typeof costs) => entries.reduce((total, [, cost]) => total + cost, 0);

function nameOf(text: string): string {
  const [first] = parse(text).definitions;
  return (first && 'name' in first && first.name?.value) || '';
}
