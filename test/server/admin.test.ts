import { afterAll, expect, onTestFinished, test } from 'vitest';
import { parseExposition, readMetrics, scrape } from '../observability/exposition.ts';
import { startInSandboxMode } from '../support/app.ts';
import { json, openConnection, request, sendBytes } from '../support/requests.ts';
import { times } from '../support/times.ts';

/** The port on which Prometheus reads the metrics. */

const app = await startInSandboxMode();
afterAll(app.stop);

test('the admin port serves the metrics, and the port of GraphQL does not', async () => {
  const { url, metricsUrl } = app;
  expect(new URL(metricsUrl)).toMatchObject({ pathname: '/metrics', hostname: '127.0.0.1' });
  expect(new URL(metricsUrl).port).not.toBe(new URL(url).port);
  for (const path of ['/metrics', '/metrics/', '/metrics?a', '/graphql/metrics', '/admin/metrics']) {
    const response = await fetch(url + path);
    expect(response.status).toBe(404);
    expect(await response.text()).not.toContain('device_trust');
  }
});

test.each([
  ['GET', '/metrics'],
  ['GET', '/metrics?name%5B%5D=up'],
  ['HEAD', '/metrics'],
])('the admin port answers %s %s in the text format of Prometheus, not to be stored', async (method, path) => {
  const { metricsUrl } = app;
  // As Prometheus asks.
  const accept = 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5';
  const response = await fetch(new URL(path, metricsUrl), { method, headers: { accept } });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(response.headers.get('cache-control')).toBe('no-store');
  if (method === 'GET') expect(parseExposition(await response.text()).families.size).toBeGreaterThan(20);
});

test('the admin port renders the metrics at most once a second', async () => {
  const start = performance.now();
  const texts = await Promise.all(times(200, () => scrape(app.metricsUrl)));
  const renderings = new Set(texts.map(({ value }) => value('device_trust_time_seconds')));
  expect(renderings.size).toBeLessThanOrEqual(1 + (performance.now() - start) / 1_000);
  const isNew = async () => !renderings.has((await scrape(app.metricsUrl)).value('device_trust_time_seconds'));
  await expect.poll(isNew, { timeout: 2_000 }).toBe(true);
});

test('the admin port answers 500 while the metrics cannot be rendered, and keeps no failure', async () => {
  let isBroken = true;
  app.registry.onCollect(() => {
    if (isBroken) throw new Error('expected by this test');
  });
  const status = async () => (await request(app.metricsUrl)).status;
  await expect.poll(status, { timeout: 2_000 }).toBe(500);
  isBroken = false;
  expect(await status()).toBe(200);
});

test('the admin port refuses every other method', async () => {
  const { metricsUrl } = app;
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const response = await fetch(metricsUrl, { method });
    expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD']);
    expect(await response.text()).not.toContain('device_trust');
  }
});

test('the admin port refuses every other path', async () => {
  const paths = '/ /graphql /healthz/ /readyz/a /graphiql /metrics/ /METRICS //metrics /a/metrics';
  for (const path of paths.split(' ')) {
    const response = await fetch(app.metricsUrl.replace('/metrics', path));
    expect([path, response.status]).toEqual([path, 404]);
    expect(await response.text()).toBe('Metrics are at /metrics.\n');
  }
  const { status, text } = await request(
    app.metricsUrl.replace('/metrics', '/graphql'),
    json('{"query":"{ __typename }"}'),
  );
  expect([status, text]).toEqual([404, 'Metrics are at /metrics.\n']);
});

test('a client of the admin port gets one answer on a connection, however many requests it sends at once', async () => {
  const answers = await sendBytes(app.metricsUrl, `GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n`.repeat(33));
  expect(answers.match(/^HTTP\/1\.1 /gm)).toHaveLength(1);
  expect(answers).toMatch(/^connection: close\r$/im);
});

test('the admin port answers probes and scrapes while more clients hold connections than there may be', async () => {
  const refusals = async () =>
    (await readMetrics(app)).value('device_trust_requests_refused_total', { code: 'BAD_REQUEST' }) ?? 0;
  const before = await refusals();
  const clients = Array.from({ length: 200 }, () => openConnection(app.metricsUrl, 'GET /healthz HTTP/1.1\r\n'));
  onTestFinished(() => clients.forEach(({ socket }) => void socket.destroy()));
  await Promise.all(clients.slice(0, 100).map(({ closed }) => closed));
  expect((await fetch(new URL('/readyz', app.metricsUrl))).status).toBe(200);
  expect((await scrape(app.metricsUrl)).families.size).toBeGreaterThan(20);
  // The refusals of callers are counted, and these are none.
  expect(await refusals()).toBe(before);
  const held = clients.filter(({ socket }) => !socket.destroyed && !socket.readableEnded);
  expect(held.length).toBeLessThanOrEqual(64);
});
