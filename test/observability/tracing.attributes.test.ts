import { readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import { ANDROID, PASS } from '../faults/documented.ts';
import { startInLiveMode } from '../support/app.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { attributesOf, startReceiver } from './otlp-receiver.ts';
import { queryForTokens, send } from './support.ts';

/**
 * Names, attributes and resource of the spans, by OpenTelemetry's semantic conventions for HTTP and GraphQL
 * (https://opentelemetry.io/docs/specs/semconv/), and its variables
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
 */

const [SERVER, CLIENT] = [2, 3];
const input = { lotNumber: 'lot-one', captchaOutput: 'o', passToken: 'p', genTime: '1' };

/** Sends these operations to an app that exports to a receiver, and returns what was exported when the app has stopped. */
async function exportedOf(
  bodies: readonly object[],
  overrides: Partial<Config> = {},
  headers: Readonly<Record<string, string>> = {},
) {
  const receiver = await startReceiver();
  const upstream = await startUpstream(({ url }, response) =>
    sendJson(
      response,
      200,
      url.startsWith('/validate') ? { ...PASS, captcha_args: { lot_number: 'lot-one' } } : ANDROID,
    ),
  );
  onTestFinished(upstream.stop);
  const urls = { GLB: upstream.url, NA: upstream.url, EU: upstream.url };
  const options = { otlpEndpoint: receiver.endpoint, otelTracesSampler: 'always_on' } as const;
  const app = await startInLiveMode(urls, { ...options, ...overrides });
  onTestFinished(app.stop);
  for (const body of bodies) await send(app, body, headers);
  await app.stop();
  const spans = receiver.spans();
  return {
    ports: { own: Number(new URL(app.url).port), upstream: Number(new URL(upstream.url).port) },
    servers: spans.filter(({ kind }) => kind === SERVER),
    clients: spans.filter(({ kind }) => kind === CLIENT),
    resources: receiver.resources(),
  };
}

describe('the span of an operation', () => {
  test('has the attributes of an HTTP server and of GraphQL, and no others', async () => {
    const query = `query Login ${queryForTokens(['one'])}`;
    const { servers, ports } = await exportedOf([{ query }]);
    expect(servers.map(attributesOf)).toEqual([
      {
        'graphql.operation.type': 'query',
        'graphql.operation.name': 'Login',
        'http.request.method': 'POST',
        'http.route': '/graphql',
        'http.response.status_code': 200,
        'network.protocol.version': '1.1',
        'server.address': '127.0.0.1',
        'server.port': ports.own,
        'url.path': '/graphql',
        'url.scheme': 'http',
      },
    ]);
  });

  test('has a name of the schema, however the client names the operation, when it is compiled as well', async () => {
    const query = `query Chosen_by_a_client { __typename alias: deviceFingerprint(token: "one") { __typename } }`;
    const { servers } = await exportedOf([{ query }, { query }, { query }, { query }]);
    expect(servers.map(({ name }) => name)).toEqual(Array(4).fill('query deviceFingerprint'));
  });

  test('has at most 64 characters of the name of the operation', async () => {
    const { servers } = await exportedOf([{ query: `query ${'a'.repeat(10_000)} { __typename }` }]);
    expect(servers).toMatchObject([{ name: 'query introspection' }]);
    expect(servers.map(attributesOf)).toMatchObject([{ 'graphql.operation.name': 'a'.repeat(64) }]);
  });
});

describe('the span of a call', () => {
  test.each([
    ['fingerprint', '/api/v2/fp_query/{public_key}', { query: queryForTokens(['one']) }],
    ['captcha', '/validate', { query: CAPTCHA_MUTATION, variables: { input } }],
  ])('to the %s service has the attributes of an HTTP client, and no id', async (service, template, body) => {
    const { clients, ports } = await exportedOf([body]);
    expect(clients).toMatchObject([{ name: `POST ${template}` }]);
    expect(clients.map(attributesOf)).toEqual([
      {
        'http.request.method': 'POST',
        'http.response.status_code': 200,
        'server.address': '127.0.0.1',
        'server.port': ports.upstream,
        'url.scheme': 'http',
        'url.template': template,
        'upstream.service': service,
        'upstream.region': 'GLB',
      },
    ]);
  });
});

describe('the resource', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const UUID = expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  const PING = [{ query: '{ __typename }' }];

  test('has the name, the version and an id of this process', async () => {
    const { resources } = await exportedOf(PING);
    expect(resources).toEqual([
      { 'service.name': 'device-trust', 'service.version': version, 'service.instance.id': UUID },
    ]);
  });

  test('has the attributes of the environment, which come first', async () => {
    const otelResourceAttributes = { 'deployment.environment.name': 'live', 'service.instance.id': 'pod-1' };
    const { resources } = await exportedOf(PING, { otelResourceAttributes });
    expect(resources).toEqual([
      { 'service.name': 'device-trust', 'service.version': version, ...otelResourceAttributes },
    ]);
  });

  test('has the name of OTEL_SERVICE_NAME before the one of the attributes', async () => {
    const names = { otelServiceName: 'one', otelResourceAttributes: { 'service.name': 'another' } };
    const { resources } = await exportedOf(PING, names);
    expect(resources).toMatchObject([{ 'service.name': 'one' }]);
  });
});

describe('the sampler', () => {
  const traceparent = (flags: string) => ({ traceparent: `00-${'0af76519'.repeat(4)}-b7ad6b7169203331-${flags}` });
  const FIVE = Array(5).fill({ query: '{ __typename }' });

  test.each([
    ['always_on', 1, [5, 5, 5]],
    ['always_off', 1, [0, 0, 0]],
    ['traceidratio', 1, [5, 5, 5]],
    ['traceidratio', 0, [0, 0, 0]],
    ['parentbased_always_on', 0, [5, 5, 0]],
    ['parentbased_always_off', 1, [0, 5, 0]],
    ['parentbased_traceidratio', 1, [5, 5, 0]],
    ['parentbased_traceidratio', 0, [0, 5, 0]],
  ] as const)('%s %s exports %j operations: without, with a sampled, with another traceparent', async (...row) => {
    const [otelTracesSampler, otelTracesSamplerArg, expected] = row;
    const counts: number[] = [];
    for (const headers of [{}, traceparent('01'), traceparent('00')]) {
      const { servers } = await exportedOf(FIVE, { otelTracesSampler, otelTracesSamplerArg }, headers);
      counts.push(servers.length);
    }
    expect(counts).toEqual(expected);
  });

  test('samples about the share of the argument', async () => {
    const many = Array(400).fill({ query: '{ __typename }' });
    const { servers } = await exportedOf(many, { otelTracesSampler: 'traceidratio', otelTracesSamplerArg: 0.25 });
    // Less than one run in a million leaves these bounds.
    expect(servers.length).toBeGreaterThan(100 - 45);
    expect(servers.length).toBeLessThan(100 + 45);
  });
});
