import { describe, expect, test } from 'vitest';
import { parseExposition, readMetrics } from '../observability/exposition.ts';
import { send, startSandboxed } from '../observability/support.ts';

/** The port on which Prometheus reads the metrics. */

describe('the admin port', () => {
  test('serves the metrics, and the port of GraphQL does not', async () => {
    const { url, metricsUrl } = await startSandboxed();
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
  ])('answers %s %s in the text format of Prometheus, not to be stored', async (method, path) => {
    const { metricsUrl } = await startSandboxed();
    const response = await fetch(new URL(path, metricsUrl), { method });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    if (method === 'GET') expect(parseExposition(await response.text()).families.size).toBeGreaterThan(20);
  });

  test('refuses every other method', async () => {
    const { metricsUrl } = await startSandboxed();
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const response = await fetch(metricsUrl, { method });
      expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD']);
      expect(await response.text()).not.toContain('device_trust');
    }
  });

  test('refuses every other path', async () => {
    const app = await startSandboxed();
    const paths = [
      '/',
      '/graphql',
      '/healthz',
      '/readyz',
      '/graphiql',
      '/metrics/',
      '/METRICS',
      '//metrics',
      '/a/metrics',
    ];
    for (const path of paths) {
      const response = await fetch(app.metricsUrl.replace('/metrics', path));
      expect([path, response.status]).toEqual([path, 404]);
      expect(await response.text()).toBe('Metrics are at /metrics.\n');
    }
    const { status, text } = await send(
      { ...app, graphqlUrl: app.metricsUrl.replace('/metrics', '/graphql') },
      {
        query: '{ __typename }',
      },
    );
    expect([status, text]).toEqual([404, 'Metrics are at /metrics.\n']);
  });

  test('closes with the app', async () => {
    const app = await startSandboxed();
    await readMetrics(app);
    await app.stop();
    await expect(fetch(app.metricsUrl)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });
});
