import {
  buildClientSchema,
  buildSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  isIntrospectionType,
  isSpecifiedScalarType,
  lexicographicSortSchema,
  printType,
} from 'graphql';
import { afterAll, describe, expect, test } from 'vitest';
import { ask } from '../support/requests.ts';
import { composeShopVariant } from './compose.ts';
import { startHiveGateway } from './gateways.ts';
import { startPageServer } from './page-server.ts';
import { asCustomer, CLAIMED_SCOPE, createSessions } from './people.ts';
import { deskSdl, shopSdl } from './public-schema.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/** What the servers of the two pages and their gateways agree on, without a browser. */

const supergraph = await startTestSupergraph();
const sessions = createSessions();
const shop = await startPageServer('shop', supergraph);
const desk = await startPageServer('desk', { sessions });
const shopGateway = await startHiveGateway(await composeShopVariant(supergraph.subgraphs), {
  identify: asCustomer,
  pageOrigin: shop.origin,
});
const deskGateway = await startHiveGateway(supergraph.supergraphSdl, {
  identify: sessions.identify,
  pageOrigin: desk.origin,
});
const closed = await startHiveGateway(supergraph.supergraphSdl, { identify: asCustomer });
afterAll(async () => {
  await Promise.all([shopGateway.stop(), deskGateway.stop(), closed.stop(), shop.stop(), desk.stop()]);
  await supergraph.stop();
});

const OTHER_ORIGIN = 'http://127.0.0.1:9';

/** Signs somebody in at the desk, and gives the header for its gateway. */
async function signIn(name: string): Promise<Record<string, string>> {
  const answer = await fetch(`${desk.origin}/sign-in/${name}`, { method: 'POST' });
  return { authorization: `Bearer ${await answer.text()}` };
}

describe.each([
  ['shop', shop, shopGateway],
  ['desk', desk, deskGateway],
] as const)('the gateway of the %s', (_name, page, gateway) => {
  /** What it answers to a browser that asks on behalf of a page of this origin. */
  async function preflight(url: string, origin: string): Promise<Record<string, string>> {
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    };
    const answer = await fetch(url, { method: 'OPTIONS', headers });
    return Object.fromEntries([...answer.headers].filter(([name]) => name.startsWith('access-control-')));
  }

  test.each([
    ['the page itself', page.origin],
    ['another origin', OTHER_ORIGIN],
    ['the other page', page === shop ? desk.origin : shop.origin],
  ])('allows only the origin of the page, without credentials, in its answer to %s', async (_who, origin) => {
    expect(await preflight(gateway.url, origin)).toEqual({
      'access-control-allow-origin': page.origin,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type, authorization',
      'access-control-max-age': '600',
    });
  });

  test('lets no other origin ask if there is no page', async () => {
    expect(await preflight(closed.url, OTHER_ORIGIN)).toEqual({});
  });

  test('shows the schema that the documents of the page are typed by', async () => {
    const question = getIntrospectionQuery({ specifiedByUrl: true });
    const { data } = await ask(gateway.url, question, {}, page === desk ? await signIn('ada') : {});
    expect(typesOf(buildClientSchema(data))).toEqual(typesOf(buildSchema(page === desk ? deskSdl() : shopSdl())));
  });
});

/** Every type of a schema that its makers wrote, as SDL. */
function typesOf(schema: GraphQLSchema): Record<string, string> {
  const types = Object.values(lexicographicSortSchema(schema).getTypeMap());
  const theirs = types.filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type));
  return Object.fromEntries(theirs.map((type) => [type.name, printType(type)]));
}

describe('who may see what', () => {
  const CATALOGUE = '{ signalCatalogue { code } }';
  const CLAIM = { ...CLAIMED_SCOPE, 'x-user-id': 'staff-grace' };
  const scopeless = { data: { signalCatalogue: null }, errors: [{ extensions: { code: 'FORBIDDEN' } }] };

  test('the analyst sees what needs the scope, and support gets FORBIDDEN, whatever it claims', async () => {
    expect((await ask(deskGateway.url, CATALOGUE, {}, await signIn('grace'))).data.signalCatalogue).toHaveLength(51);
    expect(await ask(deskGateway.url, CATALOGUE, {}, { ...(await signIn('ada')), ...CLAIM })).toMatchObject(scopeless);
  });

  test.each([
    ['nobody', {}],
    ['who claims to be somebody', CLAIM],
    ['a session that was never started', { authorization: 'Bearer grace' }],
    ['no token', { authorization: 'Bearer ' }],
  ])('the gateway of the desk answers 401 to %s, so that its page can read it', async (_who, headers) => {
    const answer = await ask(deskGateway.url, CATALOGUE, {}, { ...headers, origin: desk.origin });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('access-control-allow-origin')).toBe(desk.origin);
    expect(answer.errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED', retryable: false } }]);
    expect(answer.data).toBeUndefined();
  });

  const QUESTION = '{ me { name } user(id: "user-3") { name } }';
  const OPERATION = JSON.stringify({ query: QUESTION });
  const GET = `?query=${encodeURIComponent(QUESTION)}`;
  /** What a browser sends for a page of any origin without a preflight. */
  test.each([
    ['a GET', GET, {}],
    ['a GET that accepts pages last', GET, { headers: { accept: '*/*, text/html;q=0.1' } }],
    ['a GET for a stream', GET, { headers: { accept: 'text/event-stream' } }],
    ['a form', '', { method: 'POST', body: new URLSearchParams({ query: QUESTION }) }],
    ['plain text', '', { method: 'POST', headers: { 'content-type': 'text/plain' }, body: OPERATION }],
    ['no type', '', { method: 'POST', body: new Blob([OPERATION]) }],
    [
      'JSON that is called a form',
      '',
      {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded; application/json' },
        body: OPERATION,
      },
    ],
  ])('neither gateway answers a question that comes as %s', async (_form, path, init) => {
    for (const gateway of [shopGateway, deskGateway]) {
      const answer = await fetch(gateway.url + path, init);
      expect(await answer.text()).not.toMatch(/"(Ada|Mallory)"/);
      const isPage = answer.headers.get('content-type')?.startsWith('text/html');
      if (!isPage) expect(answer.status).toBeOneOf([401, 405, 415]);
    }
  });

  test('in the shop everybody is Ada, and nothing that needs a scope is there at all', async () => {
    const headers = { ...CLAIM, ...(await signIn('grace')) };
    expect((await ask(shopGateway.url, '{ me { name } }', {}, headers)).data).toEqual({ me: { name: 'Ada' } });
    const { data, errors } = await ask(shopGateway.url, CATALOGUE, {}, headers);
    expect(data?.signalCatalogue).toBeUndefined();
    expect(errors?.[0]?.message).toContain('Cannot query field "signalCatalogue"');
  });

  test('in the shop nobody can make an event about the device of somebody else', async () => {
    supergraph.asked.length = 0;
    const question = '{ user(id: "user-3") { sessions { id deviceFingerprint { eventId } } } }';
    const { data, errors } = await ask(shopGateway.url, question);
    expect(data?.user).toBeUndefined();
    expect(errors?.[0]?.message).toContain('Cannot query field "deviceFingerprint"');
    expect(supergraph.asked).toEqual([]);
  });

  test('whoever is unknown is not signed in, and neither is a page of another origin', async () => {
    const sent = (path: string, origin = desk.origin) =>
      fetch(desk.origin + path, { method: 'POST', headers: { origin } }).then(({ status }) => status);
    expect(await sent('/sign-in/grace')).toBe(200);
    expect(await sent('/sign-in/grace', shop.origin)).toBe(404);
    expect(await sent('/sign-in/mallory')).toBe(404);
    expect(await sent('/sign-in/constructor')).toBe(404);
    expect((await fetch(`${shop.origin}/sign-in/grace`, { method: 'POST' })).status).toBe(404);
  });
});

describe('the server of a page', () => {
  const get = (path: string, init: RequestInit = {}) => fetch(shop.origin + path, init);

  test('serves nothing before it knows the gateway, and then a page that may ask this one and no other', async () => {
    expect((await get('/')).status).toBe(503);
    shop.use(shopGateway.url);
    const page = await get('/');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).toContain(`connect-src 'self' ${shopGateway.url}`);
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /);
    const html = await page.text();
    expect(html).toContain(`content="${shopGateway.url}"`);
    const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(html) ?? [];
    expect((await get(script)).headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  });

  test('passes on the one request that stands in for the captcha widget, for the shop alone', async () => {
    const challenge = await (await get('/sandbox/challenges', { method: 'POST' })).json();
    expect(challenge).toMatchObject({ captcha_id: 'a'.repeat(32), gen_time: expect.stringMatching(/^\d+$/) });
    expect((await fetch(`${desk.origin}/sandbox/challenges`, { method: 'POST' })).status).toBe(404);
  });

  test.each([
    ['GET', '/sandbox/challenges'],
    ['POST', `/sandbox/challenges?captcha_id=${'b'.repeat(32)}`],
    ['POST', '/validate'],
    ['POST', '/api/v2/fp_query/pk_sandbox_glb'],
    ['GET', '/page.ts'],
    ['GET', '/../page-server.ts'],
    ['POST', '/'],
  ])('has nothing else: %s %s', async (method, path) => {
    supergraph.asked.length = 0;
    expect((await get(path, { method })).status).toBe(404);
    expect(supergraph.asked).toEqual([]);
  });
});
