import { ApolloServer } from '@apollo/server';
import { afterAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { ANDROID, PASS } from '../faults/documented.ts';
import { linesOf, operationsOf } from '../observability/support.ts';
import { startInLiveMode } from '../support/app.ts';
import {
  CAPTCHA_MUTATION,
  ENTITIES_QUERY,
  FINGERPRINT_FIELDS,
  FINGERPRINT_QUERY,
  JUDGED_FRAGMENT,
} from '../support/graphql.ts';
import { ask, post, startOperation } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/**
 * An operation is compiled when it is sent for the third time, which a caller must not notice. Each test sends the same
 * operation five times, so that the first answers come from Apollo Server and the last from compiled code.
 */

const TIMES = [1, 2, 3, 4, 5];
const SECRET = 'secret-of-the-router';
let hangs = false;
const upstream = await startUpstream((received, response) => {
  if (hangs) return;
  const { device_token: token = '' } = received.url.startsWith('/api') ? JSON.parse(received.body) : {};
  if (token === 'down') sendJson(response, 503, {});
  else if (token === 'gone') sendJson(response, 502, {});
  else if (token === 'bad') sendJson(response, 400, { code: 400, message: 'Invalid request', data: { errors: [] } });
  else if (received.url.startsWith('/validate')) {
    const lot_number = new URLSearchParams(received.body).get('lot_number');
    sendJson(response, 200, { ...PASS, captcha_args: { ...PASS.captcha_args, lot_number } });
  } else sendJson(response, 200, ANDROID);
});
const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
const app = await startInLiveMode(urls);
const guarded = await startInLiveMode(urls, { routerSecrets: [SECRET] });
afterAll(() => Promise.all([app.stop(), guarded.stop(), upstream.stop()]));
beforeEach(() => {
  upstream.received.length = 0;
  hangs = false;
});

const reference = (token: string, __typename = 'DeviceFingerprint') => ({ __typename, token });
const INPUT = { lotNumber: 'l', captchaOutput: 'o', passToken: 'p', genTime: '1' };
const TWO_CAPTCHAS = `mutation ($input: ValidateCaptchaInput!) {
  a: validateCaptcha(input: $input) { proceed } b: validateCaptcha(input: $input) { proceed }
}`;
const ALIASES = `query ($t: String!) { ${TIMES.map((time) => `a${time}: deviceFingerprint(token: $t) { __typename }`).join(' ')} }`;

describe('five times the same question', () => {
  test.each<[string, string, Record<string, unknown>, number]>([
    ['a judgement', FINGERPRINT_QUERY, { token: 'good' }, 1],
    ['a rejection', FINGERPRINT_QUERY, { token: 'bad' }, 1],
    ['an upstream that fails', FINGERPRINT_QUERY, { token: 'down' }, 1],
    ['an application that is not there', FINGERPRINT_QUERY, { token: 'good', publicKey: 'pk_of_nobody' }, 0],
    ['a variable that does not fit', FINGERPRINT_QUERY, { token: ['good'] }, 0],
    ['a list for an input object', FINGERPRINT_QUERY, { token: 'good', metadata: [] }, 0],
    ['no variable at all', FINGERPRINT_QUERY, {}, 0],
    ['the same token five times', ALIASES, { t: 'good' }, 1],
    [
      'references, good and bad, the last one too',
      ENTITIES_QUERY,
      { representations: [...['good', 'bad', 'down', 'good'].map((it) => reference(it)), reference('x', 'Nothing')] },
      3,
    ],
    [
      'too many references, beside another question',
      'query ($r: [_Any!]!) { _entities(representations: $r) { __typename } b: deviceFingerprint(token: "x", publicKey: "pk_of_nobody") { __typename } }',
      { r: Array.from({ length: 1_001 }, () => reference('x', 'Nothing')) },
      0,
    ],
    [
      'too many references alone',
      'query ($r: [_Any!]!) { _entities(representations: $r) { __typename } }',
      { r: Array.from({ length: 1_001 }, () => reference('x', 'Nothing')) },
      0,
    ],
    ['a captcha', CAPTCHA_MUTATION, { input: INPUT }, 1],
    ['a captcha too many', TWO_CAPTCHAS, { input: INPUT }, 1],
    ['nothing but a name', '{ __typename }', {}, 0],
  ])('%s', async (_what, query, variables, calls) => {
    const answers = [];
    for (const _ of TIMES) answers.push(await ask(app.graphqlUrl, query, variables));
    const [first] = answers;
    for (const { status, text, headers } of answers) {
      expect([status, text]).toEqual([first?.status, first?.text]);
      for (const name of ['content-type', 'cache-control', 'content-length']) {
        expect(headers.get(name)).toBe(first?.headers.get(name));
      }
    }
    expect(upstream.received).toHaveLength(calls * TIMES.length);
  });

  test('with another name each time, and other variables', async () => {
    const document = 'query A($t: String!) { deviceFingerprint(token: $t) { __typename } } query B { __typename }';
    for (const time of TIMES) {
      const body = (operationName?: string) =>
        JSON.stringify({ query: document, operationName, variables: { t: time % 2 ? 'good' : 'bad' } });
      const type = time % 2 ? 'DeviceFingerprint' : 'DeviceFingerprintRejected';
      expect((await post(app.graphqlUrl, body('A'))).data).toEqual({ deviceFingerprint: { __typename: type } });
      expect((await post(app.graphqlUrl, body('B'))).data).toEqual({ __typename: 'Query' });
      expect((await post(app.graphqlUrl, body())).errors?.[0]?.extensions.code).toBe('OPERATION_RESOLUTION_FAILURE');
      expect((await post(app.graphqlUrl, body('C'))).errors?.[0]?.extensions.code).toBe('OPERATION_RESOLUTION_FAILURE');
    }
  });

  test('a trace is made whenever one is asked for, and only then', async () => {
    for (const time of TIMES) {
      const trace: Record<string, string> = time === 4 ? { 'apollo-federation-include-trace': 'ftv1' } : {};
      const body = JSON.stringify({ query: '{ b: __typename }' });
      const { text } = await post(guarded.graphqlUrl, body, { 'router-authorization': SECRET, ...trace });
      expect(text.includes('ftv1')).toBe(time === 4);
    }
  });

  test('each is one line in the log, with its name, its outcomes and its calls', async () => {
    const query = 'query Logged($t: String!) { deviceFingerprint(token: $t) { __typename } }';
    for (const time of TIMES) await ask(app.graphqlUrl, query, { t: time === 5 ? 'down' : 'good' });
    expect(linesOf(app).filter(({ operation }) => operation === 'Logged')).toMatchObject([
      ...TIMES.slice(0, 4).map(() => ({ outcomes: { DeviceFingerprint: 1 }, upstreamCalls: 1 })),
      { outcomes: {}, errors: ['UPSTREAM_UNAVAILABLE'], upstreamCalls: 1 },
    ]);
  });

  // Of a cause of their own, because ten lines a second are written for each.
  test.each([
    ['deviceFingerprint', 'query ($t: String!) { a: deviceFingerprint(token: $t) { __typename } }', { t: 'gone' }],
    [
      '_entities',
      'query ($r: [_Any!]!) { a: _entities(representations: $r) { __typename } }',
      { r: [reference('gone')] },
    ],
  ])(
    'a failure is logged each time in the same way, with the name of the field: %s',
    async (field, query, variables) => {
      const before = linesOf(app).length;
      for (const _ of TIMES) await ask(app.graphqlUrl, query, variables);
      const warnings = linesOf(app)
        .slice(before)
        .filter(({ level }) => level === 'warn');
      const warning = { code: 'UPSTREAM_UNAVAILABLE', internal: 'HTTP status 502', field };
      expect(warnings).toMatchObject(TIMES.map(() => warning));
    },
  );
});

/** Counts what Apollo Server is asked to execute, until the end of the test. */
function spyOnApolloServer() {
  const spy = vi.spyOn(ApolloServer.prototype, 'executeHTTPGraphQLRequest');
  onTestFinished(() => spy.mockRestore());
  return spy;
}

test('Apollo Server executes a document three times, and compiled code from then on', async () => {
  const execute = spyOnApolloServer();
  for (const _ of TIMES) await ask(app.graphqlUrl, '{ counted: __typename }');
  expect(execute).toHaveBeenCalledTimes(3);
});

test('Apollo Server reads an invalid document once, and the same response comes from the cache from then on', async () => {
  const execute = spyOnApolloServer();
  for (const query of ['{ deviceFingerprint }', '{ nothing }', '{ "text"']) {
    execute.mockClear();
    const answers = [];
    for (const _ of TIMES) answers.push(await ask(app.graphqlUrl, query));
    expect(execute).toHaveBeenCalledTimes(1);
    const [first] = answers;
    expect(first?.status).toBe(400);
    for (const { status, text, headers } of answers) {
      expect([status, text, headers.get('content-type')]).toEqual([
        400,
        first?.text,
        first?.headers.get('content-type'),
      ]);
    }
  }
});

test('what a client says about itself in the extensions changes nothing, but Apollo Server answers a persisted query', async () => {
  const execute = spyOnApolloServer();
  const query = '{ extended: __typename }';
  const send = (extensions: object) => post(app.graphqlUrl, JSON.stringify({ query, extensions }));
  for (const _ of TIMES) await send({ clientLibrary: { name: '@apollo/client', version: '4.3.8' } });
  expect(execute).toHaveBeenCalledTimes(3);
  const { errors } = await send({ persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } });
  expect(execute).toHaveBeenCalledTimes(4);
  expect(errors).toHaveLength(1);
});

test('callers with many different Accept headers do not change who answers', async () => {
  const execute = spyOnApolloServer();
  for (const _ of TIMES) await ask(app.graphqlUrl, '{ negotiated: __typename }');
  for (let at = 0; at < 100; at += 1) {
    const accept = `application/json;q=0.${at + 1}`;
    await post(app.graphqlUrl, '{"query":"{ negotiated: __typename }"}', { accept });
  }
  expect(execute).toHaveBeenCalledTimes(3);
});

test('a client that disconnects ends a compiled operation as well', async () => {
  for (const _ of TIMES) await ask(app.graphqlUrl, FINGERPRINT_QUERY, { token: 'good' });
  hangs = true;
  const disconnect = startOperation(app.graphqlUrl, { query: FINGERPRINT_QUERY, variables: { token: 'good' } });
  await expect.poll(() => upstream.received.length).toBe(TIMES.length + 1);
  disconnect();
  await expect.poll(() => app.logged()).toContain('"errors":["CANCELLED"]');
});

const askFor = (query: string, variables: unknown = {}, operationName?: string) =>
  post(app.graphqlUrl, JSON.stringify({ query, variables, operationName }));
/** The log line of the last operation. */
const lastOperation = () => operationsOf(app).at(-1) ?? {};

describe('documents that differ in the name of their operation only', () => {
  const named = (name: string) => `
    query ${name}($token: String!) { deviceFingerprint(token: $token) { ${FINGERPRINT_FIELDS} } } ${JUDGED_FRAGMENT}`;
  // The error is in the line of the name, so its column depends on the name.
  const failing = (name: string) => `query ${name}($key: ID) { a: __typename
    b: deviceFingerprint(token: "t", publicKey: $key) { __typename } c: __typename } `;
  const failingInLine = (name: string) => failing(name).replaceAll(/\s+/g, ' ');

  test.each([
    ['with data', named, { token: 'good' }],
    ['with an error in another line', failing, { key: 'pk_of_nobody' }],
    ['with an error in the line of the name', failingInLine, { key: 'pk_of_nobody' }],
  ])('%s, are answered as a document that is new', async (_what, document, variables) => {
    for (let time = 0; time < 4; time += 1) await askFor(document('First'), variables);
    for (const name of ['A', 'First', 'A_much_longer_name_2']) {
      const compiled = await askFor(document(name), variables);
      // A comment makes it another document, of the same lines and columns.
      const anew = await askFor(`${document(name)}# ${name}`, variables);
      expect(compiled.text).toBe(anew.text);
      expect(compiled.status).toBe(anew.status);
    }
  });

  test('are each in the log under their own name, and only this name selects them', async () => {
    for (let time = 0; time < 4; time += 1) await askFor(named('Before'), { token: 'good' });
    for (const operationName of [undefined, 'Later']) {
      expect((await askFor(named('Later'), { token: 'good' }, operationName)).errors).toBeUndefined();
      expect(lastOperation()).toMatchObject({ operation: 'Later' });
    }
    const { errors } = await askFor(named('Later'), { token: 'good' }, 'Before');
    expect(errors).toMatchObject([{ extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } }]);
  });

  test('include one without a name', async () => {
    const document = (name: string) => `query ${name} { signalCatalogue { code } }`;
    for (let time = 0; time < 4; time += 1) await askFor(document('Before'));
    expect((await askFor(document(''), {}, 'Before')).errors).toMatchObject([
      { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } },
    ]);
    expect((await askFor(document(''))).data.signalCatalogue).toHaveLength(51);
    expect(lastOperation()['operation']).toBeUndefined();
  });
});
