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
import { createClient } from './frontend/client.ts';
import { JUDGE_DEVICE } from './frontend/operations.ts';
import { startFrontend } from './frontend.ts';
import { startHiveGateway } from './gateways.ts';
import { publicSdl } from './public-schema.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/** What the page's server and the gateway agree on, without a browser. */

const supergraph = await startTestSupergraph();
const frontend = await startFrontend(supergraph.challengeUrl);
const gateway = await startHiveGateway(supergraph.supergraphSdl, 0, frontend.origin);
const closed = await startHiveGateway(supergraph.supergraphSdl);
afterAll(async () => {
  await Promise.all([gateway.stop(), closed.stop(), frontend.stop()]);
  await supergraph.stop();
});

describe('the gateway', () => {
  const OTHER_ORIGIN = 'http://127.0.0.1:9';

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
    ['the page itself', () => frontend.origin],
    ['another origin', () => OTHER_ORIGIN],
  ])('allows only the origin of the page, without credentials, in its answer to %s', async (_who, origin) => {
    expect(await preflight(gateway.url, origin())).toEqual({
      'access-control-allow-origin': frontend.origin,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'content-type',
      'access-control-max-age': '600',
    });
  });

  test('lets no other origin ask if there is no page', async () => {
    expect(await preflight(closed.url, OTHER_ORIGIN)).toEqual({});
  });

  test('shows the schema that the documents of the page are typed by', async () => {
    const { data } = await ask(gateway.url, getIntrospectionQuery({ specifiedByUrl: true }));
    expect(typesOf(buildClientSchema(data))).toEqual(typesOf(buildSchema(publicSdl())));
  });
});

/** Every type of a schema that its makers wrote, as SDL. */
function typesOf(schema: GraphQLSchema): Record<string, string> {
  const types = Object.values(lexicographicSortSchema(schema).getTypeMap());
  const theirs = types.filter((type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type));
  return Object.fromEntries(theirs.map((type) => [type.name, printType(type)]));
}

describe('the server of the page', () => {
  const get = (path: string, init: RequestInit = {}) => fetch(frontend.origin + path, init);

  test('serves nothing before it knows the gateway, and then a page that may ask this one and no other', async () => {
    expect((await get('/')).status).toBe(503);
    frontend.use(gateway.url);
    const page = await get('/');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy.split('; ')).toContain(`connect-src 'self' ${gateway.url}`);
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /);
    const html = await page.text();
    expect(html).toContain(`content="${gateway.url}"`);
    const [, script = ''] = /<script[^>]* src="([^"]+)"/.exec(html) ?? [];
    expect((await get(script)).headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  });

  test('passes on the one request that stands in for the captcha widget', async () => {
    const challenge = await (await get('/sandbox/challenges', { method: 'POST' })).json();
    expect(challenge).toMatchObject({ captcha_id: 'a'.repeat(32), gen_time: expect.stringMatching(/^\d+$/) });
  });

  test.each([
    ['GET', '/sandbox/challenges'],
    ['POST', `/sandbox/challenges?captcha_id=${'b'.repeat(32)}`],
    ['POST', '/validate'],
    ['POST', '/api/v2/fp_query/pk_sandbox_glb'],
    ['GET', '/page.ts'],
    ['GET', '/../frontend.ts'],
    ['POST', '/'],
  ])('has nothing else: %s %s', async (method, path) => {
    supergraph.asked.length = 0;
    expect((await get(path, { method })).status).toBe(404);
    expect(supergraph.asked).toEqual([]);
  });
});

describe('the client of the page', () => {
  test('keeps nothing that it heard, and asks anew each time', async () => {
    const client = createClient(gateway.url);
    const question = { query: JUDGE_DEVICE, variables: { token: 'sandbox:ios' } };
    supergraph.asked.length = 0;
    for (let time = 0; time < 2; time++) {
      expect((await client.query(question)).data?.deviceFingerprint).toMatchObject({ clientType: 'IOS' });
    }
    expect(supergraph.asked).toHaveLength(2);
    expect(client.extract()).toEqual({});
  });
});
