import { afterAll, describe, expect, test } from 'vitest';
import { startInSandboxMode } from '../support/app.ts';
import { json, request, sendBytes } from '../support/requests.ts';

/** Who may ask: with `ROUTER_SECRETS` configured, nobody but the router. `callers.services.test.ts` is about services. */

const [OLD, NEW] = ['the-old-router-secret', 'the-new-router-secret'] as const;
/** As long as a secret may be. */
const LONGEST = 'l'.repeat(256);
const app = await startInSandboxMode({ routerSecrets: [OLD, NEW, LONGEST] });
const open = await startInSandboxMode();
afterAll(() => Promise.all([app.stop(), open.stop()]));

const QUERY = '{"query":"{ signalCatalogue { code } }"}';
const SDL = '{"query":"{ _service { sdl } }"}';
const TRACE = { 'apollo-federation-include-trace': 'ftv1' };
const asRouter = (secret: string) => ({ 'router-authorization': secret });

describe('a caller without the secret', () => {
  test.each<[string, Record<string, string>]>([
    ['without a secret', {}],
    ['with an empty secret', asRouter('')],
    ['with another secret', asRouter('the-own-router-secret')],
    ['with half a secret', asRouter(OLD.slice(0, -1))],
    ['with more than a secret', asRouter(`${OLD}x`)],
    ['with both secrets as configured', asRouter(`${OLD},${NEW}`)],
    ['with the secret as a bearer token', { authorization: `Bearer ${OLD}` }],
    ['with the longest secret but its end', asRouter(LONGEST.slice(1))],
    ['with the longest secret and more', asRouter(`${LONGEST}l`)],
    ['with more than any secret has', asRouter('x'.repeat(8_000))],
    ['with a secret beyond ASCII', asRouter(`${OLD.slice(0, -1)}\u00f4`)],
    ['who asks for a trace', TRACE],
  ])('%s gets 401, whatever is asked', async (_who, headers) => {
    for (const body of [QUERY, SDL, '{', '[]']) {
      const answer = await request(app.graphqlUrl, json(body, headers));
      expect(answer.status).toBe(401);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(JSON.parse(answer.text)).toEqual({
        errors: [
          {
            message: expect.stringContaining('Router-Authorization'),
            extensions: { code: 'UNAUTHENTICATED', retryable: false },
          },
        ],
      });
      expect(answer.text + app.logged()).not.toMatch(/the-\w+-router-secret/);
    }
  });

  test('is refused before the body arrives', async () => {
    const head = 'POST /graphql HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99999\r\n\r\n';
    expect(await sendBytes(app.url, head)).toMatch(/^HTTP\/1\.1 401 /);
  });

  test.each(['/healthz', '/readyz'])('may ask whether it lives: %s', async (path) => {
    expect((await request(app.url + path)).status).toBe(200);
  });
});

describe('the router', () => {
  test.each([OLD, NEW, LONGEST])('asks with each secret while they are rotated', async (secret) => {
    for (const body of [QUERY, SDL]) {
      const { status, text } = await request(app.graphqlUrl, json(body, asRouter(secret)));
      expect([status, JSON.parse(text).errors]).toEqual([200, undefined]);
    }
  });

  test('gets an inline trace if it asks for one, and nobody else does', async () => {
    const traced = await request(app.graphqlUrl, json(QUERY, { ...asRouter(NEW), ...TRACE }));
    expect(JSON.parse(traced.text).extensions.ftv1).toMatch(/^[A-Za-z0-9+/=]+$/);
    const plain = await request(app.graphqlUrl, json(QUERY, asRouter(NEW)));
    expect(JSON.parse(plain.text)).not.toHaveProperty('extensions');
    const unguarded = await request(open.graphqlUrl, json(QUERY, TRACE));
    expect(JSON.parse(unguarded.text)).not.toHaveProperty('extensions');
  });
});
