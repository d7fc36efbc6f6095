import { parse, validate } from 'graphql';
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { FingerprintRequest } from '../../src/fingerprint/request.ts';
import { SIGNAL_CATALOGUE } from '../../src/fingerprint/signal-catalogue.ts';
import { schemaOf } from '../../src/graphql/schema.ts';
import { SLICES } from '../../src/slices.ts';
import { ANDROID } from '../faults/documented.ts';
import { outcomeOf } from '../fingerprint/support.ts';
import { linesOf } from '../observability/support.ts';
import { startInLiveMode } from '../support/app.ts';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { sealedJudgements } from '../support/judgements.ts';
import { ask, type GraphqlAnswer, post, startOperation } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { startSubgraph, withDevices } from './capabilities.ts';
import { makeUp } from './random-operations.ts';

/**
 * An operation is answered alike however often it is sent: when it is new, when its document is known, and as compiled code,
 * which it is from the fourth time on. A server with a plugin of Apollo Server always leaves the execution to graphql-js.
 */

const schema = schemaOf(SLICES);
const TIMES = [1, 2, 3, 4, 5];
const quick = await startSubgraph();
/** What the plugin of a company sees: each operation, and each execution. */
const seen = { operations: 0, executions: 0 };
const plain = await startSubgraph({
  plugins: [
    {
      requestDidStart: async () => {
        seen.operations += 1;
        return {
          executionDidStart: async () => {
            seen.executions += 1;
          },
        };
      },
    },
  ],
});
afterAll(() => Promise.all([quick.stop(), plain.stop()]));

/** What has to be alike. Sealed texts are different each time. */
const visibleIn = ({ status, headers, text }: GraphqlAnswer) => [
  ...[status, headers.get('content-type'), headers.get('cache-control')],
  text.replaceAll(/"ey[\w-]+\.[\w.-]+"/g, '"sealed"'),
];

async function expectAlike(document: string, variables: Record<string, unknown>, times = TIMES): Promise<string> {
  const ofPlain = await ask(plain.graphqlUrl, document, variables);
  for (const time of times) {
    const answer = await ask(quick.graphqlUrl, document, variables);
    const what = `time ${time}: ${document} ${JSON.stringify(variables)}`;
    expect(visibleIn(answer), what).toEqual(visibleIn(ofPlain));
  }
  return ofPlain.text;
}

/** Values that some scalar, enum or input object may or may not take. */
const JUNK = [null, '', 'x', 'HIGH', 0, -1, 1.5, 2 ** 31, true, [], ['a'], [null], {}, { token: 'a' }, { a: 1 }];

test('random operations are answered alike, with variables that fit and with others', async () => {
  const count = { answered: 0, withErrors: 0, refused: 0 };
  for (let seed = 0; seed < 150; seed += 1) {
    const { document, variables } = makeUp(seed);
    // Two of its fields were given one name.
    if (validate(schema, parse(document)).length > 0) continue;
    const text = await expectAlike(document, variables);
    count.answered += 1;
    if (text.startsWith('{"errors"')) count.withErrors += 1;
    const [name] = Object.keys(variables);
    if (name === undefined) continue;
    // Once, because the document is compiled by now.
    const refused = await expectAlike(document, { ...variables, [name]: JUNK[seed % JUNK.length] }, [1]);
    if (refused.includes('BAD_USER_INPUT')) count.refused += 1;
  }
  // There are enough of each kind for a meaningful comparison.
  expect(count.answered).toBeGreaterThan(100);
  expect(count.withErrors).toBeGreaterThan(30);
  expect(count.answered - count.withErrors).toBeGreaterThan(30);
  expect(count.refused).toBeGreaterThan(10);
});

const ENTITIES = 'query ($r: [_Any!]!) { a: _entities(representations: $r) { __typename } }';
const r = Array.from({ length: 25 }, () => ({ __typename: 'DeviceFingerprint', token: 'android' }));
/** graphql-jit 0.8.9 writes the literals of a document into its code, and takes these texts for dates and a number of its own. */
const CODE = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74dglobalThis.ran=true';
const WORD = '__MAGIC_DATE__33a9e76d_02e0_4128_8e92_3530ad3da74dnothing';
const NAN = '__MAGIC_NAN__57f286b9_4c20_487f_b409_79804ddcb4f8';
/** A document whose answer has this text. */
const attesting = (audience: string) => `mutation { validateCaptcha(input: {
  lotNumber: "l", captchaOutput: "o", passToken: "p", genTime: "1", audience: "${audience}", action: "a" }) { attestation } }`;

test.each<[string, string, Record<string, unknown>]>([
  [
    'two aliases of a field that fails, and the field itself',
    'query ($t: String!) { deviceFingerprint(token: $t) { ... on DeviceFingerprint { judgement { a: sealed sealed b: sealed } } } }',
    { t: 'too long to be sealed' },
  ],
  [
    'one fragment on the interface of a device and its judgement',
    `query ($t: String!) { deviceFingerprint(token: $t) { ...F ... on DeviceFingerprint { judgement { ...G } } } }
     fragment F on DeviceAssessment { clientType decision { action } signals { code } }
     fragment G on DeviceAssessment { eventId device { id } signals(minConfidence: 1) { code } }`,
    { t: 'android' },
  ],
  [
    'a fragment on the interface of two entities',
    'query ($r: [_Any!]!) { _entities(representations: $r) { ... on DeviceAssessment { __typename requestId device { id } } } }',
    { r: [r[0], { __typename: 'DeviceJudgement', sealed: sealedJudgements()[0]?.sealed }, { __typename: 'Nothing' }] },
  ],
  ['too many references', ENTITIES, { r: Array(1_001).fill({ __typename: 'Nothing' }) }],
  ['a text that is code to the compiler', attesting(CODE), {}],
  ['a word that is code to the compiler', `{ _entities(representations: ${WORD}) { __typename } }`, {}],
  ['a text that is a number to the compiler', attesting(NAN), {}],
])('a document is answered alike with %s', async (_what, document, variables) => {
  await expectAlike(document, variables);
});

test('an alias that is the path of another field costs what it costs, however often it is sent', async () => {
  const signals = SIGNAL_CATALOGUE.map(({ code, level, confidence }) => ({ signal: code, level, confidence }));
  const json = { ...ANDROID, data: { ...ANDROID.data, signals } };
  const query = async (request: FingerprintRequest) => outcomeOf(request, { status: 200, json }, 0);
  const dear = await startSubgraph({}, withDevices(query, 400));
  const all = '{ name code level confidence effect meaning }';
  for (const [ofJudgement, ofDevice] of [
    ['{ name }', all],
    [all, '{ name }'],
  ]) {
    const document = `query ($t: String!) { deviceFingerprint(token: $t) { ... on DeviceFingerprint {
      judgement { signals ${ofJudgement} } signals_judgement: signals ${ofDevice}
    } } }`;
    for (const _ of TIMES)
      expect((await ask(dear.graphqlUrl, document, { t: 'android' })).errors).toMatchObject([
        { extensions: { code: 'OVERLOADED' } },
      ]);
  }
  await dear.stop();
});

test("a company's plugin of Apollo Server sees every operation and its execution", async () => {
  Object.assign(seen, { operations: 0, executions: 0 });
  for (const _ of TIMES) await ask(plain.graphqlUrl, '{ signalCatalogue { code } }');
  expect(seen).toEqual({ operations: TIMES.length, executions: TIMES.length });
});

const SECRET = 'secret-of-the-router';
let hangs = false;
const upstream = await startUpstream((received, response) => {
  if (hangs) return;
  const { device_token: token } = JSON.parse(received.body);
  if (token === 'down') sendJson(response, 503, {});
  else if (token === 'bad') sendJson(response, 400, { code: 400, message: 'Invalid request', data: { errors: [] } });
  else sendJson(response, 200, ANDROID);
});
const app = await startInLiveMode(upstream.url);
const guarded = await startInLiveMode(upstream.url, { routerSecrets: [SECRET] });
afterAll(() => Promise.all([app.stop(), guarded.stop(), upstream.stop()]));
beforeEach(() => {
  upstream.received.length = 0;
  hangs = false;
});

const reference = (token: string, __typename = 'DeviceFingerprint') => ({ __typename, token });
test('the same question with another name each time, and other variables, is answered five times', async () => {
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

test('the trace of an operation with many fields is short, and its answer is what it is without a trace', async () => {
  const fields = Array.from({ length: 100 }, (_, at) => `a${at}: version`).join(' ');
  const query = `query ($r: [_Any!]!) { _entities(representations: $r) { ... on DeviceFingerprint { ${fields} } } }`;
  const variables = { r: Array(1_000).fill({ __typename: 'DeviceFingerprint', token: 'good' }) };
  const send = (headers: Record<string, string>) =>
    post(guarded.graphqlUrl, JSON.stringify({ query, variables }), { 'router-authorization': SECRET, ...headers });
  for (const _ of ['new', 'known', 'compiled']) {
    const { data, text } = await send({ 'apollo-federation-include-trace': 'ftv1' });
    expect(data).toEqual((await send({})).data);
    expect(JSON.parse(text).extensions.ftv1.length).toBeLessThan(200);
  }
  expect((await send({})).data._entities[999]).toMatchObject({ a99: expect.any(String) });
});

test('an invalid document has a trace each time that one is requested, and none otherwise', async () => {
  const send = async (headers: Record<string, string>) => {
    const body = JSON.stringify({ query: '{ nothing }' });
    const { status, text } = await post(guarded.graphqlUrl, body, { 'router-authorization': SECRET, ...headers });
    expect(status).toBe(400);
    return JSON.parse(text);
  };
  const { extensions: _, ...untraced } = await send({ 'apollo-federation-include-trace': 'ftv1' });
  for (const _time of ['known', 'again'])
    expect(await send({ 'apollo-federation-include-trace': 'ftv1' })).toEqual({
      ...untraced,
      extensions: { ftv1: expect.any(String) },
    });
  expect(await send({})).toEqual(untraced);
});

// They are fewer than the ten lines that one cause may write in a second.
test.each([
  ['deviceFingerprint', 'query ($t: String!) { a: deviceFingerprint(token: $t) { __typename } }', { t: 'down' }],
  ['_entities', ENTITIES, { r: [reference('down')] }],
])('a failure is logged each time in the same way, with the name of the field: %s', async (field, query, variables) => {
  const before = linesOf(guarded).length;
  const times = [{}, {}, {}, {}, { 'apollo-federation-include-trace': 'ftv1' }];
  for (const headers of times)
    await ask(guarded.graphqlUrl, query, variables, { 'router-authorization': SECRET, ...headers });
  const warnings = linesOf(guarded)
    .slice(before)
    .filter(({ level }) => level === 'warn');
  const warning = { code: 'UPSTREAM_UNAVAILABLE', internal: 'HTTP status 503', field };
  expect(warnings).toMatchObject(times.map(() => warning));
});

test('a client that disconnects ends a known operation as well', async () => {
  for (const _ of TIMES) await ask(app.graphqlUrl, FINGERPRINT_QUERY, { token: 'good' });
  hangs = true;
  const disconnect = startOperation(app.graphqlUrl, { query: FINGERPRINT_QUERY, variables: { token: 'good' } });
  await expect.poll(() => upstream.received.length).toBe(TIMES.length + 1);
  disconnect();
  await expect.poll(() => app.logged()).toContain('"errors":["CANCELLED"]');
});
