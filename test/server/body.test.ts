import { afterAll, describe, expect, test } from 'vitest';
import { startInSandboxMode } from '../support/app.ts';
import { json, request } from '../support/requests.ts';
import { expectRefusal, startWithoutUpstreams } from './support.ts';

/** Which bodies become a GraphQL request. */

const apps = { sandbox: await startInSandboxMode(), live: await startWithoutUpstreams() };
const MODES = ['sandbox', 'live'] as const;
afterAll(() => Promise.all(MODES.map((mode) => apps[mode].stop())));

const CANARY = 'canary-7f3a';
const QUERY = '{"query":"{ __typename }"}';
const LIMIT = 524_288;

/** The same bytes in pieces, so that no content-length is sent. */
function inPieces(text: string): RequestInit {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const bytes = new TextEncoder().encode(text);
  const send = async () => {
    for (let from = 0; from < bytes.length; from += 16_384) await writer.write(bytes.subarray(from, from + 16_384));
    await writer.close();
  };
  // The server may stop reading at its limit.
  send().catch(() => {});
  // Node asks for `duplex` with a stream, and its type does not know it.
  return Object.assign(json(''), { body: readable, duplex: 'half' });
}

describe.each(MODES)('in %s mode', (mode) => {
  const { graphqlUrl } = apps[mode];

  test.each([
    ['application/json'],
    ['application/json; charset=utf-8'],
    ['Application/JSON;charset=UTF-8'],
    ['application/json ; charset=utf-8'],
  ])('content-type %s is taken', async (type) => {
    const { status, text } = await request(graphqlUrl, json(QUERY, { 'content-type': type }));
    expect([status, text.trim()]).toEqual([200, '{"data":{"__typename":"Query"}}']);
  });

  // A page of another site can send the first three without asking first: this is what stops CSRF.
  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/graphql',
    'application/graphql+json',
    'text/plain; application/json',
    'application/jsonp',
    '',
  ])('content-type "%s" is refused', async (type) => {
    const headers = { 'content-type': type, 'x-apollo-operation-name': 'A', 'apollo-require-preflight': '1' };
    expectRefusal(await request(graphqlUrl, { method: 'POST', headers, body: QUERY }), 415);
  });

  test('a request without a content-type is refused', async () => {
    expectRefusal(await request(graphqlUrl, { method: 'POST', body: new TextEncoder().encode(QUERY) }), 415);
  });

  test.each<[string, BodyInit]>([
    ['nothing', ''],
    ['no JSON', CANARY],
    ['JSON that ends too early', `{"query":"{ __typename }","variables":{"token":"${CANARY}`],
    ['JSON with something behind it', `${QUERY}${CANARY}`],
    ['single quotes', `{'query':'${CANARY}'}`],
    ['bytes that are no UTF-8', new Uint8Array([0x22, 0xff, 0xfe, 0x22])],
    ['a text', JSON.stringify(CANARY)],
    ['null', 'null'],
    ['no query', '{}'],
    ['an empty query', '{"query":""}'],
    ['a query that is a number', '{"query":424242}'],
    ['variables that are a text', `{"query":"{ __typename }","variables":"${CANARY}"}`],
    ['variables that are a list', `{"query":"{ __typename }","variables":["${CANARY}"]}`],
    ['an operation name that is a number', '{"query":"{ __typename }","operationName":424242}'],
    ['extensions that are a text', `{"query":"{ __typename }","extensions":"${CANARY}"}`],
    ['a batch of one', `[${QUERY}]`],
    ['a batch of two', `[${QUERY},${QUERY}]`],
    ['an empty batch', '[]'],
  ])('a body with %s is refused', async (_what, body) => {
    const answer = await request(graphqlUrl, { ...json(''), body });
    expectRefusal({ ...answer, text: answer.text.trim() }, 400);
    expect(answer.text).not.toContain(CANARY);
    expect(answer.text).not.toContain('424242');
  });

  test.each([
    ['with a hash alone', { extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } }],
    [
      'with its document',
      { query: '{ __typename }', extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } },
    ],
  ])('a persisted query %s is refused, so that clients send the document from then on', async (_what, body) => {
    const { text, headers } = await request(graphqlUrl, json(JSON.stringify(body)));
    expect(JSON.parse(text)).toMatchObject({ errors: [{ extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } }] });
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('512 KiB are accepted, with and without content-length', async () => {
    const body = QUERY.padEnd(LIMIT);
    for (const init of [json(body), inPieces(body)]) expect((await request(graphqlUrl, init)).status).toBe(200);
  });

  test.each([LIMIT + 1, 10 * LIMIT])('%i bytes are refused, with and without content-length', async (size) => {
    const body = QUERY.padEnd(size);
    for (const init of [json(body), inPieces(body)]) {
      const answer = await request(graphqlUrl, init);
      expectRefusal(answer, 413);
      expect(answer.headers.get('connection')).toBe('close');
    }
  });

  test('the limit counts bytes, not characters', async () => {
    const wide = `{"query":"{ __typename }","extensions":{"x":"${'é'.repeat(LIMIT / 2)}"}}`;
    expectRefusal(await request(graphqlUrl, json(wide)), 413);
  });

  test('an Accept header that cannot be met is refused', async () => {
    const answer = await request(graphqlUrl, json(QUERY, { accept: 'image/png' }));
    expectRefusal({ ...answer, text: answer.text.trim() }, 406);
  });

  test('the log contains nothing of these requests', () => {
    expect(apps[mode].logged()).not.toContain(CANARY);
  });
});
