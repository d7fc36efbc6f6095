import { afterAll, describe, expect, test } from 'vitest';
import { readMetrics } from '../observability/exposition.ts';
import { operationsOf, startSandboxed } from '../observability/support.ts';
import { DEFAULTS } from '../support/app.ts';
import { json, openConnection, request, sendBytes } from '../support/requests.ts';
import { callerAt, callerOf, CALLER_QUERY as QUERY, startServerOfCallers } from './support.ts';

/** Who asks: a service with a secret of its own, or the router beside services. */

const ROUTER = 'the-secret-of-the-router';
const ORDERS = { name: 'orders', secret: 'the-secret-of-orders', scopes: ['risk:read'] } as const;
const DESK = { name: 'desk', secret: 'the-secret-of-the-desk', scopes: [] } as const;
const SERVICES = { services: [ORDERS, DESK] };
const HEADERS = { trustedHeaders: { subject: 'x-user-id', scopes: 'x-user-scopes' } };
const PERSON = { 'x-user-id': 'person-17', 'x-user-scopes': 'openid risk:read' };

const asRouter = (secret = ROUTER) => ({ 'router-authorization': secret });
const asService = (secret: string) => ({ authorization: `Bearer ${secret}` });

const server = await startServerOfCallers({ routerSecrets: [ROUTER], ...SERVICES, ...HEADERS });
const plain = await startServerOfCallers({ routerSecrets: [ROUTER] });
const withScopesOfServices = await startServerOfCallers({ routerSecrets: [ROUTER], ...SERVICES });
afterAll(() => Promise.all([server, plain, withScopesOfServices].map(({ stop }) => stop())));

describe('a service', () => {
  test.each([
    [ORDERS, ['risk:read']],
    [DESK, []],
  ])('is known by its own secret, and has its own scopes', async ({ name, secret }, scopes) => {
    expect(await callerAt(server.graphqlUrl, asService(secret))).toEqual({ name, scopes });
    expect(await callerAt(server.graphqlUrl, { authorization: `bearer  ${secret}` })).toEqual({ name, scopes });
  });

  test('has two secrets and one name while its secret is rotated', async () => {
    const rotating = await startServerOfCallers({
      services: [ORDERS, { ...ORDERS, secret: 'the-secret-that-follows' }],
    });
    try {
      for (const secret of [ORDERS.secret, 'the-secret-that-follows']) {
        expect(await callerAt(rotating.graphqlUrl, asService(secret))).toEqual({
          name: 'orders',
          scopes: ['risk:read'],
        });
      }
    } finally {
      await rotating.stop();
    }
  });

  test('asks on behalf of the person that it names, and brings no scopes but its own', async () => {
    const headers = { ...asService(DESK.secret), ...PERSON };
    expect(await callerAt(server.graphqlUrl, headers)).toEqual({ name: 'desk', subject: 'person-17', scopes: [] });
  });

  test.each<[string, Record<string, string>]>([
    ['nothing', {}],
    ['an empty token', asService('')],
    ['another secret', asService('the-secret-of-nobody')],
    ['half a secret', asService(ORDERS.secret.slice(0, -1))],
    ['more than a secret', asService(`${ORDERS.secret}x`)],
    ['two secrets', asService(`${ORDERS.secret}, Bearer ${DESK.secret}`)],
    ['more than any secret has', asService('x'.repeat(8_000))],
    ['its name', asService('orders')],
    ['the secret alone', { authorization: ORDERS.secret }],
    ['another scheme', { authorization: `Basic ${ORDERS.secret}` }],
    ['its secret as that of the router', asRouter(ORDERS.secret)],
    ['the secret of the router', asService(ROUTER)],
    ['trusted headers', PERSON],
  ])('that presents %s gets 401', async (_what, headers) => {
    const { status, text } = await request(server.graphqlUrl, json(QUERY, headers));
    expect([status, JSON.parse(text).errors[0].extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
    expect(text + server.logged()).not.toContain('the-secret-of');
  });

  test('that sends two Authorization headers gets 401, whichever comes first', async () => {
    const [right, wrong] = [ORDERS.secret, 'the-secret-of-nobody'].map((secret) => `authorization: Bearer ${secret}`);
    expect(await callerOf(server.graphqlUrl, [`${right}`])).toMatchObject({ name: 'orders' });
    expect(await callerOf(server.graphqlUrl, [`${right}`, `${wrong}`])).toBe('401');
    expect(await callerOf(server.graphqlUrl, [`${wrong}`, `${right}`])).toBe('401');
  });

  test('gets no inline trace, and the router does', async () => {
    const app = await startSandboxed({ routerSecrets: [ROUTER], ...SERVICES });
    const ask = async (headers: Record<string, string>) => {
      const body = '{"query":"{ signalCatalogue { code } }"}';
      const answer = await request(
        app.graphqlUrl,
        json(body, { ...headers, 'apollo-federation-include-trace': 'ftv1' }),
      );
      return JSON.parse(answer.text);
    };
    expect(await ask(asRouter())).toHaveProperty('extensions.ftv1');
    expect(await ask(asService(ORDERS.secret))).not.toHaveProperty('extensions');
  });

  test('can be the only one who may ask', async () => {
    const app = await startSandboxed(SERVICES);
    const ask = async (headers: Record<string, string>) => (await request(app.graphqlUrl, json(QUERY, headers))).status;
    expect([await ask(asService(ORDERS.secret)), await ask({}), await ask(asRouter())]).toEqual([400, 401, 401]);
  });

  test('is refused before the body arrives', async () => {
    const head = 'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99999\r\n';
    expect(await sendBytes(server.graphqlUrl, `${head}authorization: Bearer nobody\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 401 /,
    );
  });
});

describe('the router', () => {
  test('asks on behalf of the person of the trusted headers', async () => {
    expect(await callerAt(server.graphqlUrl, { ...asRouter(), ...PERSON })).toEqual({
      name: 'router',
      subject: 'person-17',
      scopes: ['openid', 'risk:read'],
    });
    expect(await callerAt(server.graphqlUrl, asRouter())).toEqual({ name: 'router', scopes: [] });
  });

  test('brings the Authorization of a person, which is ignored, even if it is that of a service', async () => {
    for (const authorization of ['Bearer of-a-person', `Bearer ${ORDERS.secret}`, 'Basic x', '']) {
      expect(await callerAt(server.graphqlUrl, { ...asRouter(), authorization })).toMatchObject({ name: 'router' });
    }
  });

  test('brings nothing without trusted headers, and then scopes are enforced only beside services', async () => {
    expect(await callerAt(plain.graphqlUrl, { ...asRouter(), ...PERSON })).toEqual({ name: 'router' });
    expect(await callerAt(withScopesOfServices.graphqlUrl, { ...asRouter(), ...PERSON })).toEqual({
      name: 'router',
      scopes: [],
    });
  });
});

describe('a rotation under load', () => {
  test('refuses nobody who has a secret that is valid before and after, and requests under way keep their caller', async () => {
    const [oldRouter, newRouter] = ['the-old-secret-of-the-router', 'the-new-secret-of-the-router'] as const;
    const oldOrders = { name: 'orders', secret: 'the-old-secret-of-orders', scopes: [] };
    const newOrders = { name: 'orders-2', secret: 'the-new-secret-of-orders', scopes: [] };
    const rotating = await startSandboxed({ routerSecrets: [oldRouter], services: [oldOrders] });
    const statusOf = async (headers: Record<string, string>) =>
      (await request(rotating.graphqlUrl, json('{"query":"{ __typename }"}', headers))).status;

    let clients = [asRouter(oldRouter), asService(oldOrders.secret)];
    const statuses: number[] = [];
    let isOn = true;
    const load = Array.from({ length: 4 }, async () => {
      while (isOn) statuses.push(...(await Promise.all(clients.map(statusOf))));
    });
    // It has sent its headers, and its body follows after the rotation.
    const body = '{"query":"query Slow { __typename }"}';
    const slow = openConnection(
      rotating.url,
      `POST /graphql HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nauthorization: Bearer ${oldOrders.secret}\r\n\r\n`,
    );
    const asked = (count: number) => expect.poll(() => statuses.length).toBeGreaterThan(statuses.length + count);
    await asked(100);
    rotating.rotate({ ...DEFAULTS, routerSecrets: [oldRouter, newRouter], services: [oldOrders, newOrders] });
    await asked(100);
    clients = [asRouter(newRouter), asService(newOrders.secret)];
    await asked(100);
    rotating.rotate({ ...DEFAULTS, routerSecrets: [newRouter], services: [newOrders] });
    await asked(100);
    isOn = false;
    await Promise.all(load);

    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await Promise.all([asRouter(oldRouter), asService(oldOrders.secret)].map(statusOf))).toEqual([401, 401]);
    const before = operationsOf(rotating).length;
    slow.socket.write(body);
    expect(await slow.closed).toMatch(/^HTTP\/1\.1 200 /);
    expect(operationsOf(rotating).slice(before)).toMatchObject([{ operation: 'Slow', caller: 'orders' }]);
    expect(rotating.logged()).not.toMatch(/the-(old|new)-secret/);
  }, 30_000);
});

describe('the log and the metrics', () => {
  test('name the caller of each operation, and count a request without a secret as refused alone', async () => {
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
  });

  test('name anyone if no secret is configured', async () => {
    const app = await startSandboxed();
    await request(app.graphqlUrl, json('{"query":"{ __typename }"}'));
    expect(operationsOf(app)).toMatchObject([{ caller: 'anyone' }]);
    const { value } = await readMetrics(app);
    expect(value('device_trust_operations_total', { caller: 'anyone', outcome: 'ok' })).toBe(1);
  });
});
