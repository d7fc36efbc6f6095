import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { send } from '../../src/server/http.ts';
import { Listener } from '../../src/server/listener.ts';
import { startInSandboxMode } from '../support/app.ts';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ask, json, post, request, sendBytes } from '../support/requests.ts';
import { expectRefusal, startWithoutUpstreams } from './support.ts';

/** What each path answers to which method, body and Accept header, in both modes. */

const apps = { sandbox: await startInSandboxMode(), live: await startWithoutUpstreams() };
const MODES = ['sandbox', 'live'] as const;
afterAll(() => Promise.all(MODES.map((mode) => apps[mode].stop())));

const CANARY = 'canary-7f3a';
const QUERY = '{"query":"{ __typename }"}';
/** How long a body may be. */
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
  const { url, graphqlUrl, metricsUrl } = apps[mode];

  // Whatever these tests send, nothing of it is in the log.
  afterEach(() => expect(apps[mode].logged()).not.toContain(CANARY));

  test.each([
    ['/healthz', 'alive\n'],
    ['/readyz', 'ready\n'],
    ['/healthz?verbose=1', 'alive\n'],
    ['/readyz?verbose=1', 'ready\n'],
  ])('%s answers at the port of GraphQL and at the admin port', async (path, text) => {
    for (const port of [url, metricsUrl]) {
      const answer = await request(new URL(path, port).href);
      expect(answer).toMatchObject({ status: 200, text });
      expect(answer.headers.get('cache-control')).toBe('no-store');
      // In absolute-form, whose host counts instead of the header (RFC 9112, section 3.2.2).
      const head = `GET ${new URL(path, port).href} HTTP/1.1\r\nhost: elsewhere.example\r\nconnection: close\r\n\r\n`;
      expect(await sendBytes(port, head)).toMatch(new RegExp(`^HTTP/1.1 200 [^]*\r\n\r\n${text}$`));
    }
  });

  test.each(['/healthz', '/readyz', '/.well-known/jwks.json', '/nowhere', '/graphql'])(
    'a body without end that nobody reads ends its connection, with the answer: PUT %s',
    async (path) => {
      const head = `PUT ${path} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n`;
      expect(await sendBytes(url, `${head}1\r\nx\r\n`)).toMatch(/^HTTP.1.1 \d{3} .*^connection: close\r$/ims);
    },
  );

  test.each<[string, object, number, object]>([
    ['a good answer', JSON.parse(QUERY), 200, { data: { __typename: 'Query' } }],
    [
      'an answer with an error in one field',
      { query: FINGERPRINT_QUERY, variables: { token: 'sandbox:web', publicKey: 'pk_of_nobody' } },
      200,
      { errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] },
    ],
    ['a syntax error', { query: '{' }, 400, {}],
    ['a field that is not there', { query: '{ nothing }' }, 400, {}],
    ['a variable of a wrong type', { query: FINGERPRINT_QUERY, variables: { token: 4 } }, 400, {}],
    ['an unknown operation', { query: 'query A { __typename }', operationName: 'B' }, 400, {}],
  ])('%s is never to be stored', async (_what, body, expectedStatus, expected) => {
    const { status, headers, text } = await request(graphqlUrl, json(JSON.stringify(body)));
    expect([status, headers.get('cache-control')]).toEqual([expectedStatus, 'no-store']);
    expect(JSON.parse(text)).toMatchObject(expected);
  });

  test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s /graphql is not allowed', async (method) => {
    const answer = await request(`${graphqlUrl}?${CANARY}`, { method });
    expectRefusal(answer, 405);
    expect(answer.headers.get('allow')).toBe('POST');
    expect(answer.text).not.toContain(CANARY);
  });

  test('a query in the URL is never executed: not for a client of GraphQL, and not for a browser', async () => {
    const search = `?query=${encodeURIComponent(`{ ${CANARY.replace('-', '_')}: __typename }`)}`;
    const ofClients = [
      {},
      { 'apollo-require-preflight': '1' },
      { accept: 'application/json', 'content-type': 'application/json' },
    ];
    for (const headers of ofClients) expectRefusal(await request(graphqlUrl + search, { headers }), 405);
    const { text } = await request(graphqlUrl + search, { headers: { accept: 'text/html' } });
    expect(text).not.toMatch(/"data"|canary/);
  });

  test.each([
    ...'/nothing /graphql/ /graphql/nothing /GRAPHQL /favicon.ico /.well-known/x // /..%2f'.split(' '),
    `/${CANARY}`,
  ])('nothing is at the path %s, which gets a 404', async (path) => {
    const answer = await request(`${url}${path}?${CANARY}`, { headers: { 'x-request-id': CANARY } });
    expectRefusal(answer, 404);
    expect(answer.text + [...answer.headers.values()].join()).not.toContain(CANARY);
  });

  test.each(['application/json', 'Application/JSON;charset=UTF-8', 'application/json ; charset=utf-8'])(
    'content-type %s is taken',
    async (type) => {
      const headers = { 'content-type': type, 'content-encoding': 'identity' };
      const { status, text } = await request(graphqlUrl, json(QUERY, headers));
      expect([status, text.trim()]).toEqual([200, '{"data":{"__typename":"Query"}}']);
    },
  );

  test('a document with half of a surrogate pair is refused, because its hash is that of other documents', async () => {
    // In JSON, because a text of fetch has no such half.
    const body = '{"query":"{ __typename # \\ud800\n}"}'.replace('\n', '\\n');
    expectRefusal(await request(graphqlUrl, json(body)), 400);
  });

  // A page of another site can send the first two and a form in parts without asking first: this is what stops CSRF.
  test.each([
    ...'text/plain application/x-www-form-urlencoded application/graphql application/graphql+json'.split(' '),
    ...['multipart/form-data; boundary=x', 'text/plain; application/json', 'application/jsonp', '', undefined],
  ])('content-type "%s" is refused', async (type) => {
    const headers = { 'x-apollo-operation-name': 'A', 'apollo-require-preflight': '1' };
    const typed = type === undefined ? headers : { ...headers, 'content-type': type };
    // Bytes, because a text brings a type of its own.
    const body = new TextEncoder().encode(QUERY);
    expectRefusal(await request(graphqlUrl, { method: 'POST', headers: typed, body }), 415);
  });

  test.each([
    ['gzip', 'gzip'],
    [`${CANARY}-${CANARY}`, 'another one'],
  ])('content-encoding "%s" is refused, and the log says so', async (coding, named) => {
    const answer = await request(graphqlUrl, json(QUERY, { 'content-encoding': coding }));
    expectRefusal(answer, 415);
    expect(answer.headers.get('accept-encoding')).toBe('identity');
    for (const text of [answer.text, apps[mode].logged()]) expect(text).toContain(`but got ${named}.`);
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
    expect(answer.text).not.toMatch(/canary-7f3a|424242/);
  });

  test.each([
    ['with a hash alone', {}],
    ['with its document', { query: '{ __typename }' }],
  ])('a persisted query %s is refused, so that clients send the document from then on', async (_what, document) => {
    const body = { ...document, extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } };
    const { headers, errors } = await post(graphqlUrl, JSON.stringify(body));
    expect(errors).toMatchObject([{ extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } }]);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('512 KiB are accepted and more are refused, with and without content-length, in bytes and not in characters', async () => {
    const largest = QUERY.padEnd(LIMIT);
    for (const init of [json(largest), inPieces(largest)]) expect((await request(graphqlUrl, init)).status).toBe(200);
    for (const size of [LIMIT + 1, 10 * LIMIT]) {
      for (const init of [json(QUERY.padEnd(size)), inPieces(QUERY.padEnd(size))]) {
        const answer = await request(graphqlUrl, init);
        expectRefusal(answer, 413);
        expect(answer.headers.get('connection')).toBe('close');
      }
    }
    const wide = `{"query":"{ __typename }","extensions":{"x":"${'é'.repeat(LIMIT / 2)}"}}`;
    expectRefusal(await request(graphqlUrl, json(wide)), 413);
  });
});

test('a body in 4,096 pieces is accepted, and one in more only if they are large, before it has ended', async () => {
  const { url, stop } = await startWithoutUpstreams({ maxBodyBytes: 10 * 1024 * 1024 });
  onTestFinished(stop);
  const head = 'POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n';
  const sent = (text: string, size = 1, end = '') => {
    const chunks = text.replaceAll(new RegExp(`.{${size}}`, 'g'), `${size.toString(16)}\r\n$&\r\n`);
    return sendBytes(url, `${head}transfer-encoding: chunked\r\n\r\n${chunks}${end}`);
  };
  const answer = '{"data":{"__typename":"Query"}}';
  expect(await sent(QUERY.padEnd(4_096), 1, '0\r\n\r\n')).toContain(answer);
  expect(await sent(QUERY.padEnd(4_097))).toContain('The body came in more than 4096 small pieces.');
  // What a segment of Ethernet carries.
  expect(await sent(QUERY.padEnd(5_745 * 1_460), 1_460, '0\r\n\r\n')).toContain(answer);
});

const { graphqlUrl } = apps.live;
const PLAIN = 'application/json; charset=utf-8';
const RESPONSE = 'application/graphql-response+json; charset=utf-8';

test.each([
  ['*/*', PLAIN],
  ['application/json', PLAIN],
  ['application/graphql-response+json', RESPONSE],
  ['application/json;q=0.5, application/graphql-response+json', RESPONSE],
  ['text/html, application/*;q=0.1', PLAIN],
  ['application/json; charset=utf8', PLAIN],
  ['application/graphql-response+json; v=1, application/json;q=high;q=0.9', RESPONSE],
  ['text/html, *; q=.2', PLAIN],
  // Longer than what is worth to be parsed.
  [`${'a/b,'.repeat(122)}application/json`, PLAIN],
  ['nonsense, application/json;q=0.1', PLAIN],
])('the content type for Accept: %s is %s, for a document that is right or wrong', async (accept, type) => {
  for (const [query, expected] of [
    ['{ __typename }', 200],
    ['{ wrong }', 400],
  ]) {
    const { status, headers } = await post(graphqlUrl, JSON.stringify({ query }), { accept });
    expect([status, headers.get('content-type')]).toEqual([expected, type]);
  }
});

test.each(['image/png', 'application/json;q=0'])('a response that Accept: %s asks for is a 406', async (accept) => {
  const answer = await request(graphqlUrl, json(QUERY, { accept }));
  expectRefusal({ ...answer, text: answer.text.trim() }, 406);
});

test.each([1, 65_536, 65_537])('a text of %i characters of two bytes each arrives whole', async (length) => {
  const text = 'ä'.repeat(length);
  const listener = new Listener({
    maxConnections: 9,
    handle: (_request, response) => send(response, 200, {}, text),
  });
  onTestFinished(() => listener.close(0));
  const answer = await request(await listener.listen('127.0.0.1', 0));
  expect([answer.headers.get('content-length'), answer.text === text]).toEqual([`${2 * length}`, true]);
});

const INTROSPECTION = '{ __schema { queryType { name } types { name } } }';

test('a client of sandbox mode can read the whole schema, and a misspelt name gets a suggestion', async () => {
  const { data, errors } = await ask(apps.sandbox.graphqlUrl, INTROSPECTION);
  expect(errors).toBeUndefined();
  expect(data.__schema.types).toContainEqual({ name: 'DeviceFingerprint' });
  const misspelt = await ask(apps.sandbox.graphqlUrl, '{ signalCatalog { code } }');
  expect(misspelt.errors?.[0]?.message).toContain('Did you mean "signalCatalogue"?');
});

test('a client of live mode cannot introspect the schema, and a router can read the SDL', async () => {
  const { data, errors } = await ask(apps.live.graphqlUrl, '{ _service { sdl } }');
  expect(errors).toBeUndefined();
  expect(data._service.sdl).toContain('type DeviceFingerprint');
  for (const query of [INTROSPECTION, '{ __type(name: "Query") { name } }', '{ a: __schema { b: types { name } } }']) {
    const refused = await ask(apps.live.graphqlUrl, query);
    expect([refused.status, refused.data]).toEqual([400, undefined]);
    expect(refused.errors?.[0]?.extensions).toEqual({ code: 'GRAPHQL_VALIDATION_FAILED', retryable: false });
    expect(refused.text).not.toContain('DeviceFingerprint');
  }
});

test.each([
  ['{ signalCatalog { code } }', 'signalCatalogue'],
  ['{ signalCatalogue { confidenc } }', '"confidence"'],
  ['query ($t: Strin!) { deviceFingerprint(token: $t) { __typename } }', 'String'],
  ['{ deviceFingerprint(toke: "x") { __typename } }', '"token"?'],
  ['{ deviceFingerprint(token: "x", metadata: { emai: "x" }) { __typename } }', '"email"'],
  ['{ deviceFingerprint(token: "x") { ... on DeviceFingerprin { version } } }', 'DeviceFingerprint"'],
  ['{ deviceFingerprint(token: "x") { ... on DeviceFingerprint { signals(minLevel: HIG) { name } } } }', 'HIGH'],
])('a misspelt name gets no suggestion in live mode: %s', async (query, hint) => {
  const { status, text } = await ask(apps.live.graphqlUrl, query);
  expect(status).toBe(400);
  expect(text).not.toMatch(/did you mean|stack|node_modules|\.[jt]s:\d/i);
  expect(text.replaceAll('\\', '')).not.toContain(hint);
});
