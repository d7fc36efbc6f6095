import { afterAll, expect, test } from 'vitest';
import { readMetrics } from '../observability/exposition.ts';
import { linesOf, operationsOf, startSandboxed, warningsOf } from '../observability/support.ts';
import { json, post, request, sendBytes } from '../support/requests.ts';
import { times } from '../support/times.ts';
import { callerAt, callerOf, CALLER_QUERY as QUERY, startServerOfCallers } from './support.ts';

/** Who may ask: the router, and services with secrets of their own. Nobody else, as soon as there is one secret. */

const ROUTER = 'the-secret-of-the-router';
const PREVIOUS = 'the-secret-of-the-router-before';
/** As long as a secret may be. */
const LONGEST = 'the-secret-of'.padEnd(256, 'l');
const ORDERS = { name: 'orders', secret: 'the-secret-of-orders', scopes: ['risk:read'] } as const;
const DESK = { name: 'desk', secret: 'the-secret-of-the-desk', scopes: [] } as const;
/** While a secret is rotated, the service has both. */
const NEXT = { ...ORDERS, secret: 'the-secret-that-follows' } as const;
const SERVICES = { services: [ORDERS, NEXT, DESK] };
const HEADERS = { trustedHeaders: { subject: 'x-user-id', scopes: 'x-user-scopes' } };
const PERSON = { 'x-user-id': 'person-17', 'x-user-scopes': 'openid risk:read' };

const asRouter = (secret = ROUTER) => ({ 'router-authorization': secret });
const asService = (secret: string) => ({ authorization: `Bearer ${secret}` });

const server = await startServerOfCallers({ routerSecrets: [ROUTER, PREVIOUS, LONGEST], ...SERVICES, ...HEADERS });
const plain = await startServerOfCallers({ routerSecrets: [ROUTER] });
const withScopesOfServices = await startServerOfCallers({ routerSecrets: [ROUTER], ...SERVICES });
afterAll(() => Promise.all([server, plain, withScopesOfServices].map(({ stop }) => stop())));

test.each([
  [ORDERS, ['risk:read']],
  [NEXT, ['risk:read']],
  [DESK, []],
])('a service is known by its own secret, and has its own scopes', async ({ name, secret }, scopes) => {
  expect(await callerAt(server.graphqlUrl, asService(secret))).toEqual({ name, scopes });
  expect(await callerAt(server.graphqlUrl, { authorization: `bearer  ${secret}` })).toEqual({ name, scopes });
});

test('a service asks on behalf of the person that it names, and brings no scopes but its own', async () => {
  const headers = { ...asService(DESK.secret), ...PERSON };
  expect(await callerAt(server.graphqlUrl, headers)).toEqual({ name: 'desk', subject: 'person-17', scopes: [] });
});

test('a service can be the only one who may ask', async () => {
  const app = await startSandboxed(SERVICES);
  const ask = async (headers: Record<string, string>) => (await request(app.graphqlUrl, json(QUERY, headers))).status;
  expect([await ask(asService(ORDERS.secret)), await ask({}), await ask(asRouter())]).toEqual([400, 401, 401]);
});

test.each<[string, Record<string, string>]>([
  ['nothing', {}],
  ['empty secrets', { ...asRouter(''), ...asService('') }],
  ['other secrets', { ...asRouter('the-secret-of-nobody'), ...asService('the-secret-of-nobody') }],
  ['half of each secret', { ...asRouter(ROUTER.slice(0, -1)), ...asService(ORDERS.secret.slice(0, -1)) }],
  ['more than each secret', { ...asRouter(`${ROUTER}x`), ...asService(`${ORDERS.secret}x`) }],
  ['two secrets', { ...asRouter(`${ROUTER},${PREVIOUS}`), ...asService(`${ORDERS.secret}, Bearer ${DESK.secret}`) }],
  ['the longest secret but its begin', asRouter(LONGEST.slice(1))],
  ['the longest secret and more', asRouter(`${LONGEST}l`)],
  ['more than any secret has', { ...asRouter('x'.repeat(4_000)), ...asService('x'.repeat(4_000)) }],
  ['a secret beyond ASCII', asRouter(`${ROUTER.slice(0, -1)}\u00f2`)],
  ['the name of a service', asService('orders')],
  ['the secret of a service without a scheme', { authorization: ORDERS.secret }],
  ['it in another scheme', { authorization: `Basic ${ORDERS.secret}` }],
  ['it as that of the router', asRouter(ORDERS.secret)],
  ['the secret of the router as that of a service', asService(ROUTER)],
  ['trusted headers', PERSON],
  ['a request for a trace', { 'apollo-federation-include-trace': 'ftv1' }],
])('%s gets 401, whatever is asked', async (_what, headers) => {
  for (const body of [QUERY, '{"query":"{ _service { sdl } }"}', '{', '[]']) {
    const answer = await request(server.graphqlUrl, json(body, headers));
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([401, 'no-store']);
    expect(JSON.parse(answer.text)).toEqual({
      errors: [
        {
          message: expect.stringContaining('Router-Authorization'),
          extensions: { code: 'UNAUTHENTICATED', retryable: false },
        },
      ],
    });
    expect(answer.text + server.logged()).not.toContain('the-secret-of');
  }
});

test('a request without a secret, or with a wrong one, is refused before the body arrives', async () => {
  const head = 'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99999\r\n';
  for (const line of ['', 'authorization: Bearer nobody\r\n']) {
    expect(await sendBytes(server.graphqlUrl, `${head}${line}\r\n`)).toMatch(/^HTTP\/1\.1 401 /);
  }
});

test('a wrong secret leaves ten lines a second with the hashed address, and one with the number of the others', async () => {
  const app = await startSandboxed({ routerSecrets: [ROUTER], logHashKey: 'a'.repeat(32) });
  for (let n = 0; n < 15; n += 1) await request(app.graphqlUrl, json(QUERY, asRouter('the-secret-of-nobody')));
  const msg = 'a request without a known secret was refused';
  const lines = () => linesOf(app).filter((line) => line['msg'] === msg);
  await expect.poll(() => lines().length, { timeout: 5_000 }).toBe(11);
  // printf 127.0.0.1 | openssl dgst -sha256 -hmac aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
  const peer = '318c102c2830';
  expect(lines().slice(0, 10)).toEqual(times(10, () => ({ level: 'info', time: expect.any(String), peer, msg })));
  expect(lines()[10]).toMatchObject({ leftOut: 5 });
  expect(app.logged()).not.toContain('the-secret-of');
});

test('two Authorization headers gets 401, whichever comes first', async () => {
  const [right, wrong] = [ORDERS.secret, 'the-secret-of-nobody'].map((secret) => `authorization: Bearer ${secret}`);
  expect(await callerOf(server.graphqlUrl, [`${right}`])).toMatchObject({ name: 'orders' });
  expect(await callerOf(server.graphqlUrl, [`${right}`, `${wrong}`])).toBe('401');
  expect(await callerOf(server.graphqlUrl, [`${wrong}`, `${right}`])).toBe('401');
});

test('the router gets an inline trace if it asks for one, and nobody else does', async () => {
  const guarded = await startSandboxed({ routerSecrets: [ROUTER], ...SERVICES });
  const open = await startSandboxed();
  // Each document is a new one, because only a new one gets to Apollo Server without a request for a trace.
  let asked = 0;
  const ask = async ({ graphqlUrl }: typeof open, headers: Record<string, string>) => {
    asked += 1;
    return (await post(graphqlUrl, `{"query":"{ a${asked}: signalCatalogue { code } }"}`, headers)).text;
  };
  const TRACE = { 'apollo-federation-include-trace': 'ftv1' };
  expect(JSON.parse(await ask(guarded, { ...asRouter(), ...TRACE })).extensions.ftv1).toMatch(/^[A-Za-z0-9+/=]+$/);
  expect(JSON.parse(await ask(guarded, asRouter()))).not.toHaveProperty('extensions');
  expect(JSON.parse(await ask(guarded, { ...asService(ORDERS.secret), ...TRACE }))).not.toHaveProperty('extensions');
  expect(JSON.parse(await ask(open, TRACE))).not.toHaveProperty('extensions');
});

test.each([ROUTER, PREVIOUS, LONGEST])('the router may use each secret while they are rotated', async (secret) => {
  expect(await callerAt(server.graphqlUrl, asRouter(secret))).toEqual({ name: 'router', scopes: [] });
});

test('the router asks on behalf of the person of the trusted headers', async () => {
  expect(await callerAt(server.graphqlUrl, { ...asRouter(), ...PERSON })).toEqual({
    name: 'router',
    subject: 'person-17',
    scopes: ['openid', 'risk:read'],
  });
  expect(await callerAt(server.graphqlUrl, asRouter())).toEqual({ name: 'router', scopes: [] });
});

test('the router brings the Authorization of a person, which is ignored, even if it is that of a service', async () => {
  for (const authorization of ['Bearer of-a-person', `Bearer ${ORDERS.secret}`, 'Basic x', '']) {
    expect(await callerAt(server.graphqlUrl, { ...asRouter(), authorization })).toMatchObject({ name: 'router' });
  }
});

test('the router brings nothing without trusted headers, and then scopes are enforced only beside services', async () => {
  expect(await callerAt(plain.graphqlUrl, { ...asRouter(), ...PERSON })).toEqual({ name: 'router' });
  expect(await callerAt(withScopesOfServices.graphqlUrl, { ...asRouter(), ...PERSON })).toEqual({
    name: 'router',
    scopes: [],
  });
});

test('the log and the metrics name the caller of each operation, and count a request without a secret as refused alone', async () => {
  const app = await startSandboxed({ routerSecrets: [ROUTER], ...SERVICES, ...HEADERS });
  const clients = [asRouter(), asService(ORDERS.secret), asService(ORDERS.secret), asService('the-secret-of-nobody')];
  for (const client of clients) {
    await request(app.graphqlUrl, json('{"query":"{ __typename }"}', { ...PERSON, ...client }));
  }
  await request(app.graphqlUrl, json('{"query":"{ a }"}', asService(DESK.secret)));
  expect(operationsOf(app).map(({ caller }) => caller)).toEqual(['router', 'orders', 'orders', 'desk']);
  const { samples, value } = await readMetrics(app);
  const operations = samples.filter(({ name }) => name === 'device_trust_operations_total');
  expect(operations.map(({ labels, value: count }) => [labels['caller'], labels['outcome'], count])).toEqual([
    ['router', 'ok', 1],
    ['orders', 'ok', 2],
    ['desk', 'error', 1],
  ]);
  expect(value('device_trust_requests_refused_total', { code: 'UNAUTHENTICATED' })).toBe(1);
  expect(app.logged()).not.toContain('person-17');
  // Nobody without a secret can call an operator.
  expect(warningsOf(app)).toEqual([]);
});
