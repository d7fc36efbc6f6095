import { afterAll, describe, expect, test } from 'vitest';
import { startInSandboxMode } from '../support/app.ts';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ask, json, request } from '../support/requests.ts';
import { expectRefusal, startWithoutUpstreams } from './support.ts';

/** What each path answers to which method, in both modes. */

const apps = { sandbox: await startInSandboxMode(), live: await startWithoutUpstreams() };
const MODES = ['sandbox', 'live'] as const;
afterAll(() => Promise.all(MODES.map((mode) => apps[mode].stop())));

const CANARY = 'canary-7f3a';
const QUERY = '{"query":"{ __typename }"}';

describe.each(MODES)('in %s mode', (mode) => {
  const { url, graphqlUrl } = apps[mode];

  test.each([
    ['/healthz', 'alive\n'],
    ['/readyz', 'ready\n'],
    ['/healthz?verbose=1', 'alive\n'],
  ])('%s answers', async (path, text) => {
    const answer = await request(url + path);
    expect(answer).toMatchObject({ status: 200, text });
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('a good answer is never to be stored', async () => {
    const { status, headers, text } = await request(graphqlUrl, json(QUERY));
    expect([status, text.trim()]).toEqual([200, '{"data":{"__typename":"Query"}}']);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('an answer with an error in one field is never to be stored', async () => {
    const variables = { token: 'sandbox:web', publicKey: 'pk_of_nobody' };
    const { status, headers, errors } = await ask(graphqlUrl, FINGERPRINT_QUERY, variables);
    expect(status).toBe(200);
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test.each([
    ['a syntax error', { query: '{' }, 400],
    ['a field that is not there', { query: '{ nothing }' }, 400],
    ['a variable of a wrong type', { query: FINGERPRINT_QUERY, variables: { token: 4 } }, 400],
    ['an unknown operation', { query: 'query A { __typename }', operationName: 'B' }, 400],
  ])('nor is one to %s', async (_what, body, expectedStatus) => {
    const { status, headers } = await request(graphqlUrl, json(JSON.stringify(body)));
    expect(status).toBe(expectedStatus);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s /graphql is not allowed', async (method) => {
    const answer = await request(`${graphqlUrl}?${CANARY}`, { method });
    expectRefusal(answer, 405);
    expect(answer.headers.get('allow')).toBe('POST');
    expect(answer.text).not.toContain(CANARY);
  });

  test('HEAD /graphql is not allowed either, and has no body', async () => {
    const { status, headers, text } = await request(graphqlUrl, { method: 'HEAD' });
    expect([status, text]).toEqual([405, '']);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test.each([
    ['a query in the URL', '?query=%7B__typename%7D', {}],
    ['with the headers of a GraphQL client', '?query=%7B__typename%7D', { 'apollo-require-preflight': '1' }],
    ['as JSON', '?query=%7B__typename%7D', { accept: 'application/json', 'content-type': 'application/json' }],
  ])('GET with %s is not executed', async (_what, search, headers) => {
    expectRefusal(await request(graphqlUrl + search, { headers }), 405);
  });

  test('GET by a browser is not executed', async () => {
    const query = encodeURIComponent(`{ ${CANARY.replace('-', '_')}: __typename }`);
    const { text } = await request(`${graphqlUrl}?query=${query}`, { headers: { accept: 'text/html' } });
    expect(text).not.toContain('"data"');
    expect(text).not.toContain('canary');
  });

  test.each([
    '/nothing',
    '/graphql/',
    '/graphql/nothing',
    '/GRAPHQL',
    '/favicon.ico',
    '/.well-known/x',
    '//',
    '/..%2f',
  ])('there is nothing at %s', async (path) => {
    const answer = await request(`${url}${path}?${CANARY}`, { headers: { 'x-request-id': CANARY } });
    expectRefusal(answer, 404);
    expect(answer.text).not.toContain(CANARY);
    expect([...answer.headers.values()].join()).not.toContain(CANARY);
  });

  test('a path is not repeated', async () => {
    const { text } = await request(`${url}/${CANARY}`);
    expect(text).not.toContain(CANARY);
  });

  test('the log contains nothing of these requests', () => {
    expect(apps[mode].logged()).not.toContain(CANARY);
  });
});
