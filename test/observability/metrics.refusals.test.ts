import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { readMetrics } from './exposition.ts';
import { startSandboxed } from './support.ts';

/** The metrics of requests that are refused before they become an operation. */

const DURATION = 'device_trust_operation_duration_seconds';

describe('a request that is refused', () => {
  test.each<[string, string, RequestInit & { path?: string }]>([
    ['BAD_REQUEST', 'a body that is not JSON', { body: '{' }],
    ['BAD_REQUEST', 'a body without a query', { body: '{}' }],
    ['BAD_REQUEST', 'a batch', { body: '[{"query":"{ __typename }"}]' }],
    ['BAD_REQUEST', 'another content type', { body: '{}', headers: { 'content-type': 'text/plain' } }],
    ['BAD_REQUEST', 'a body that is too large', { body: ' '.repeat(200_000) }],
    ['BAD_REQUEST', 'another method', { method: 'PUT', body: '{}' }],
    ['BAD_REQUEST', 'another path', { path: '/nothing', body: '{}' }],
    ['UNAUTHENTICATED', 'a wrong secret', { body: '{}', headers: { 'router-authorization': 'of-somebody-else' } }],
  ])('counts as %s for %s', async (code, _why, { path = '/graphql', ...init }) => {
    const secret = 'the-secret-of-the-router';
    const app = await startSandboxed({ routerSecrets: [secret] });
    const headers = { 'content-type': 'application/json', 'router-authorization': secret, ...init.headers };
    const response = await fetch(app.url + path, { method: 'POST', ...init, headers });
    expect(response.status).toBeGreaterThanOrEqual(400);
    const { samples, value } = await readMetrics(app);
    const refused = samples.filter((it) => it.name === 'device_trust_requests_refused_total' && it.value > 0);
    expect(refused.map(({ labels, value: count }) => [labels, count])).toEqual([[{ code }, 1]]);
    expect(samples.filter(({ name }) => name === `${DURATION}_count`)).toEqual([]);
    expect(value('device_trust_operations_in_flight')).toBe(0);
  });

  test.each([
    ['bytes that are not HTTP', 'hello\r\n\r\n', 1],
    ['headers that are too long', `GET / HTTP/1.1\r\nhost: x\r\na: ${'a'.repeat(20_000)}\r\n\r\n`, 1],
    ['a connection without a request, which counts as none,', '', 0],
  ])('counts as BAD_REQUEST for %s', async (_what, bytes, refused) => {
    const app = await startSandboxed();
    const socket = connect(Number(new URL(app.url).port), '127.0.0.1');
    socket.end(bytes);
    await text(socket);
    const { value } = await readMetrics(app);
    expect(value('device_trust_requests_refused_total', { code: 'BAD_REQUEST' })).toBe(refused);
  });
});
