import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { linesOf, operationsOf, send } from '../observability/support.ts';
import { startInSandboxMode } from '../support/app.ts';

/** The log line of an operation has ids and names from the request only if they are short and have allowed characters. */

const app = await startInSandboxMode();
afterAll(app.stop);

/** Sends an operation with these headers, and returns its log line. */
async function lineWith(headers: Readonly<Record<string, string>>, body: object = PLAIN) {
  await send(app, body, headers);
  return operationsOf(app).at(-1) ?? {};
}

const PLAIN = { query: 'query Ping { __typename }' };
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const MAIL = 'ada.canary@mail.example';
const LONG = 'a'.repeat(10_000);

test.each([
  ['an address', MAIL],
  ['two words', 'two words'],
  ['a tab', 'two\twords'],
  ['10 kB', LONG],
  ['65 characters', 'a'.repeat(65)],
  ['no characters', ''],
  ['an accent', Buffer.from('é').toString('latin1')],
  ['JSON', '{"a":1}'],
  ['a list', 'a,b'],
  ['markup', '<b>'],
  ['a quotation mark', "a'b"],
])('a request id with %s is replaced by a new one', async (_what, id) => {
  const line = await lineWith({ 'x-request-id': id });
  expect(line['requestId']).toMatch(UUID);
});

test.each([
  ['a second, folded line', `router\r\n ${MAIL}`],
  ['a log line in it', `router\n{"level":"error","client":"${MAIL}"}`],
  ['a bare carriage return in it', `router\r${MAIL}`],
  ['a NUL in it', `router\0${MAIL}`],
])('a raw x-request-id header with %s is not logged', async (_what, id) => {
  const before = linesOf(app).length;
  const body = JSON.stringify(PLAIN);
  const head = `POST /graphql HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n`;
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  socket.end(`${head}x-request-id: ${id}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 (200|400) /);
  for (const line of linesOf(app).slice(before)) expect(line['requestId']).toMatch(UUID);
  expect(app.logged()).not.toContain(MAIL);
});

test('two request ids are replaced by a new one', async () => {
  const sent = Promise.withResolvers<void>();
  const headers = { 'content-type': 'application/json', 'x-request-id': ['one', 'two'] };
  const caller = request(app.graphqlUrl, { method: 'POST', headers });
  caller.end(JSON.stringify({ query: 'query Twice { __typename }' }));
  caller.on('response', (response) => response.resume().on('end', sent.resolve));
  await sent.promise;
  expect(operationsOf(app).at(-1)).toMatchObject({ operation: 'Twice', requestId: expect.stringMatching(UUID) });
});

test.each([
  ['an address', MAIL],
  ['5 kB', LONG.slice(5_000)],
  ['65 characters', 'a'.repeat(65)],
  ['markup', '<script>'],
  ['a quotation mark', 'a"b'],
  ['an assignment', 'a=b'],
  ['a telephone number', '+49 30 901820'],
  ['a tab', 'shop\tweb'],
])('a client name or version with %s is not logged', async (_what, value) => {
  const line = await lineWith({ 'apollographql-client-name': value, 'apollographql-client-version': value });
  expect(line).toMatchObject({ operation: 'Ping' });
  expect(line).not.toHaveProperty('client');
  expect(line).not.toHaveProperty('clientVersion');
});

// https://www.w3.org/TR/trace-context/#traceparent-header-field-values
const [TRACE, SPAN] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
test.each([
  ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['no parent', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['a version that is forbidden', `ff-${TRACE}-${SPAN}-01`],
  ['capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
  ['more than version 00 has', `00-${TRACE}-${SPAN}-01-more`],
  ['a trace that is too short', `00-${TRACE.slice(1)}-${SPAN}-01`],
  ['no flags', `00-${TRACE}-${SPAN}`],
  ['a second traceparent', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
  ['an address', MAIL],
])('a traceparent with %s sets no trace id', async (_what, traceparent) => {
  expect(await lineWith({ traceparent })).not.toHaveProperty('traceId');
});

test.each([
  ['of a later version', `01-${TRACE}-${SPAN}-01`],
  ['of a later version with more fields', `cc-${TRACE}-${SPAN}-01-what-the-future-brings`],
  ['that is not sampled', `00-${TRACE}-${SPAN}-00`],
])('a traceparent %s sets the trace id', async (_what, traceparent) => {
  expect(await lineWith({ traceparent })).toMatchObject({ traceId: TRACE });
});

test('the name of an operation is cut after 64 characters', async () => {
  const line = await lineWith({}, { query: `query ${LONG} { __typename }` });
  expect(line['operation']).toBe('a'.repeat(64));
});
