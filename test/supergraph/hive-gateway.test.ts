import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { configFor } from '../../deploy/router/hive-gateway.ts';
import { readPage } from '../docs/markdown.ts';
import { json, ask as post, request } from '../support/requests.ts';
import { startUpstream } from '../support/upstream.ts';
import { CROSS_SUBGRAPH_QUERY } from './cross-subgraph-query.ts';
import { startHiveGateway } from './gateways.ts';
import { createSessions } from './people.ts';
import { PLANNERS } from './test-gateways.ts';
import { SECRETS } from './test-secrets.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/** What `deploy/router/hive-gateway.ts` does, with each planner of Hive Gateway: its own, and the one in Rust. */

const supergraph = await startTestSupergraph({
  trustedHeaders: {
    subject: 'x-user-id',
    scopes: 'x-user-scopes',
    metadata: { ipAddr: { header: 'x-client-ip' }, accountId: { header: 'x-user-id' } },
  },
});
const ownUrl = supergraph.subgraphs['device-trust'];
/** Whether connections break instead of reaching our subgraph. */
let isAway = false;
/** Passes requests to our subgraph on with all their headers, and keeps what it has seen. */
const recorder = await startUpstream(async ({ method, headers, body }, response) => {
  if (isAway) return void response.destroy();
  const { host, connection, 'content-length': length, 'accept-encoding': encoding, ...rest } = headers;
  const sent = Object.entries(rest).map(([name, value]): [string, string] => [name, `${value}`]);
  const answer = await fetch(ownUrl, { method, headers: sent, body });
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
});
// The gateway finds the subgraph behind the recorder.
const supergraphSdl = supergraph.supergraphSdl.replaceAll(ownUrl, `${recorder.url}/graphql`);
afterAll(async () => {
  await supergraph.stop();
  await recorder.stop();
});
beforeEach(() => {
  supergraph.asked.length = 0;
  recorder.received.length = 0;
  isAway = false;
});

const { identify, signIn } = createSessions();
const ANALYST = { authorization: `Bearer ${signIn('grace')}` };
const SUPPORT = { authorization: `Bearer ${signIn('ada')}` };
const JUDGE =
  '{ deviceFingerprint(token: "sandbox:ios") { ... on DeviceFingerprint { clientType signals { code } } } }';
/** What a client says about itself, which nobody may believe. */
const FORGED = {
  'router-authorization': 'forged',
  'x-user-id': 'user-1',
  'x-user-scopes': 'risk:read',
  'x-request-id': 'chosen-by-the-client',
  traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
  cookie: 'session=1',
};
const FROM_EDGE = { 'x-client-ip': '203.0.113.7', 'x-ja4': 't13d' };
// The estimate is shown, so that the figures of the documentation can be compared with it.
const demandControl = { listSize: 10, maxCost: 1_000, includeExtensionMetadata: true };

const OPERATIONS = readPage('deploy/router/README.md').blocks.filter(({ language }) => language === 'graphql');
const FIGURES = readPage('deploy/router/README.md').rowsOf(
  'operation',
  'all subgraphs',
  'device-trust',
  'Hive Gateway',
);

describe.each(PLANNERS)('%s', async (_name, planner) => {
  const gateway = await startHiveGateway(supergraphSdl, {
    identify,
    secrets: SECRETS,
    changes: { ...planner, demandControl },
  });
  afterAll(() => gateway.stop());
  const ask = (query: string, headers: Readonly<Record<string, string>>) => post(gateway.url, query, {}, headers);

  test.each(FIGURES.map(([name = '', , , cost]) => [name.replaceAll('`', ''), cost]))(
    '%s is estimated at %s, as the documentation says',
    async (name, cost) => {
      const documented = OPERATIONS.find(({ text }) => text.startsWith(`query ${name} `))?.text;
      const query = documented ?? CROSS_SUBGRAPH_QUERY;
      expect(query).toMatch(`query ${name} `);
      const { text } = await ask(query, ANALYST);
      expect(JSON.parse(text).extensions.cost).toMatchObject({ estimated: Number(cost), max: 1_000 });
    },
  );

  test('the secret, the person and the edge arrive, and nothing that a client says about itself', async () => {
    const body = JSON.stringify({ query: JUDGE, extensions: { headers: { ...FORGED, 'x-client-ip': '203.0.113.9' } } });
    const sent = { ...FORGED, ...FROM_EDGE, ...SUPPORT };
    const { text } = await request(gateway.url, json(body, sent));
    expect(JSON.parse(text).data.deviceFingerprint).toEqual({ clientType: 'IOS', signals: null });
    expect(recorder.received).toHaveLength(1);
    const headers = recorder.received[0]?.headers ?? {};
    expect(headers).toMatchObject({
      ...FROM_EDGE,
      'router-authorization': SECRETS['device-trust'],
      'x-user-id': 'staff-ada',
      'x-user-scopes': '',
      'x-request-id': expect.stringMatching(/^[\da-f-]{36}$/),
    });
    for (const name of ['cookie', 'authorization', 'traceparent']) expect(headers).not.toHaveProperty(name);
    const { metadata } = JSON.parse(supergraph.asked[0]?.body ?? '');
    expect(metadata).toEqual({ account_id: 'staff-ada', ip_addr_v4: '203.0.113.7' });
  });

  test('two equal requests at the same time are two events', async () => {
    const answers = await Promise.all([ask(JUDGE, ANALYST), ask(JUDGE, ANALYST)]);
    expect(answers.map(({ errors }) => errors)).toEqual([undefined, undefined]);
    expect(supergraph.asked).toHaveLength(2);
  });

  test('a request whose connection breaks is sent once', async () => {
    isAway = true;
    const { data } = await ask(JUDGE, ANALYST);
    expect(data?.deviceFingerprint ?? null).toBeNull();
    expect(recorder.received).toHaveLength(1);
  });

  test('more than a few orders in one operation are refused', async () => {
    const order = () =>
      `placeOrder(input: { checkoutId: "${randomUUID()}", item: "Pen", deviceToken: "sandbox:ios" }) { __typename }`;
    const orders = (count: number) => `mutation { ${Array.from({ length: count }, (_, i) => `a${i}: ${order()}`)} }`;
    expect((await ask(orders(3), ANALYST)).errors).toBeUndefined();
    supergraph.asked.length = 0;
    const { errors } = await ask(orders(50), ANALYST);
    expect(errors?.map(({ extensions }) => extensions.code)).toContain('COST_ESTIMATED_TOO_EXPENSIVE');
    // The planner of its own counts while it executes, so the first ones are placed.
    expect(supergraph.events()).toBeLessThanOrEqual(4);
  });

  test('whoever is not signed in is answered nothing', async () => {
    const { status, data } = await ask(JUDGE, FORGED);
    expect([status, data, recorder.received]).toEqual([401, undefined, []]);
  });
});

test('the delivered file starts no gateway without a secret', () => {
  expect(() => configFor(undefined).plugins()).toThrow('ROUTER_SECRET is not set');
});

test('without a login the delivered file names no person and no scopes, whatever a client claims', async () => {
  const gateway = await startHiveGateway(supergraphSdl, { identify, secrets: SECRETS, changes: { plugins: () => [] } });
  const { errors } = await post(gateway.url, JUDGE, {}, FORGED);
  await gateway.stop();
  expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'FORBIDDEN', retryable: false }]);
  expect(recorder.received).toHaveLength(1);
  for (const name of ['x-user-id', 'x-user-scopes']) expect(recorder.received[0]?.headers).not.toHaveProperty(name);
});
