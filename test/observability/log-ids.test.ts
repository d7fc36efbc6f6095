import { request } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { startInSandboxMode } from '../support/app.ts';
import { linesOf, operationsOf, send } from './support.ts';

/** What of a caller's names and ids gets into the line of an operation: only what is short, plain and meant for it. */

const app = await startInSandboxMode();
afterAll(app.stop);

/** The line of an operation that is sent with these headers. */
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
  ['nothing', ''],
  ['an accent', Buffer.from('é').toString('latin1')],
  ['JSON', '{"a":1}'],
  ['a list', 'a,b'],
  ['markup', '<b>'],
  ['a quotation mark', "a'b"],
])('a request id with %s is not taken, and one is made instead', async (_what, id) => {
  const line = await lineWith({ 'x-request-id': id });
  expect(line['requestId']).toMatch(UUID);
});

test.each([
  ['folds it onto a second line', `router\r\n ${MAIL}`],
  ['has a line of the log in it', `router\n{"level":"error","client":"${MAIL}"}`],
  ['has a bare return in it', `router\r${MAIL}`],
  ['has a NUL in it', `router\0${MAIL}`],
])('nor is one of somebody who %s', async (_what, id) => {
  const before = linesOf(app).length;
  const body = JSON.stringify(PLAIN);
  const head = `POST /graphql HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n`;
  const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
  socket.end(`${head}x-request-id: ${id}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 (200|400) /);
  for (const line of linesOf(app).slice(before)) expect(line['requestId']).toMatch(UUID);
  expect(app.logged()).not.toContain(MAIL);
});

test('two request ids are none', async () => {
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
])('a client, or a version of one, with %s is not taken', async (_what, words) => {
  const line = await lineWith({ 'apollographql-client-name': words, 'apollographql-client-version': words });
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
  ['two of them', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
  ['an address', MAIL],
])('a traceparent with %s gives no trace id', async (_what, traceparent) => {
  expect(await lineWith({ traceparent })).not.toHaveProperty('traceId');
});

test.each([
  ['of a later version', `01-${TRACE}-${SPAN}-01`],
  ['of a later version with more to it', `cc-${TRACE}-${SPAN}-01-what-the-future-brings`],
  ['that is not sampled', `00-${TRACE}-${SPAN}-00`],
])('a traceparent %s gives one', async (_what, traceparent) => {
  expect(await lineWith({ traceparent })).toMatchObject({ traceId: TRACE });
});

test('the name of an operation is cut after 64 characters', async () => {
  const line = await lineWith({}, { query: `query ${LONG} { __typename }` });
  expect(line['operation']).toBe('a'.repeat(64));
});
