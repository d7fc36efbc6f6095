import { afterAll, expect, test } from 'vitest';
import { readMetrics } from '../observability/exposition.ts';
import { startInLiveMode } from '../support/app.ts';
import { json, openConnection, request } from '../support/requests.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';

/** The bodies of all requests together are bounded, while they arrive and until their operations have ended. */

const TOGETHER = 64 * 1024 * 1024;
const LARGEST = 512 * 1024;
const LARGE_BODIES = TOGETHER / LARGEST;

/** Each lets one call of an operation end. */
const waiting: (() => void)[] = [];
const upstream = await startUpstream((_request, response) => {
  waiting.push(() => sendJson(response, 400, { code: 400, message: 'Invalid request', data: { errors: [] } }));
});
const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
const app = await startInLiveMode(urls, { fingerprintTimeoutMs: 60_000 });
afterAll(() => Promise.all([app.stop(), upstream.stop()]));

const HEAD = [
  'POST /graphql HTTP/1.1',
  'host: x',
  'content-type: application/json',
  'connection: close',
  `content-length: ${LARGEST}`,
].join('\r\n');
const judgement = (token: string) =>
  JSON.stringify({ query: `{ deviceFingerprint(token: "${token}") { __typename } }` }).padEnd(LARGEST);
/** Longer than what the large bodies of a test leave. */
const SMALL = '{"query":"{ __typename }"}'.padEnd(1_000);
const askSmall = () => request(app.graphqlUrl, json(SMALL));
const statusOfSmall = async () => (await askSmall()).status;
/** Large bodies are sent by this process as well, on a machine that may be busy. */
const POLL = { timeout: 20_000, interval: 50 };

test('bodies that arrive hold what has arrived, until their connections are closed', async () => {
  // One byte is missing, so none of them becomes an operation.
  const bytes = `${HEAD}\r\n\r\n${judgement('t').slice(0, -1)}`;
  const connections = Array.from({ length: LARGE_BODIES }, () => openConnection(app.url, bytes));
  await expect.poll(statusOfSmall, POLL).toBe(503);
  const { text, headers } = await askSmall();
  expect(JSON.parse(text).errors).toMatchObject([{ extensions: { code: 'OVERLOADED', retryable: true } }]);
  expect([headers.get('connection'), headers.get('retry-after')]).toEqual(['close', '1']);
  for (const { socket } of connections) socket.destroy();
  await expect.poll(statusOfSmall, POLL).toBe(200);
}, 60_000);

const startOperations = async () => {
  const from = waiting.length;
  const connections = Array.from({ length: LARGE_BODIES }, (_, i) =>
    openConnection(app.url, `${HEAD}\r\n\r\n${judgement(`t${i}`)}`),
  );
  await expect.poll(() => waiting.length - from, POLL).toBe(LARGE_BODIES);
  expect(await statusOfSmall()).toBe(503);
  return { connections, letEnd: () => waiting.slice(from).forEach((end) => void end()) };
};

test('bodies of operations whose clients disconnected hold nothing', async () => {
  const { connections } = await startOperations();
  for (const { socket } of connections) socket.destroy();
  await expect.poll(statusOfSmall, POLL).toBe(200);
}, 60_000);

test('bodies of operations under way hold their bytes until these have ended: as much as before is accepted, and refusals are counted', async () => {
  const refusals = async () =>
    (await readMetrics(app)).value('device_trust_requests_refused_total', { code: 'OVERLOADED' }) ?? 0;
  const before = await refusals();
  for (let time = 0; time < 2; time += 1) {
    const { connections, letEnd } = await startOperations();
    letEnd();
    for (const { closed } of connections) expect(await closed).toMatch(/^HTTP\/1\.1 200 /);
  }
  expect(await refusals()).toBe(before + 2);
  expect(await statusOfSmall()).toBe(200);
}, 60_000);
