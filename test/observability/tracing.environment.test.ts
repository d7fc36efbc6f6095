import { expect, test } from 'vitest';
import { LIVE, startServing } from '../process/environments.ts';
import { json, request } from '../support/requests.ts';
import { startReceiver } from './otlp-receiver.ts';

/**
 * The variables that OpenTelemetry's SDK reads by itself
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/, and
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/). What the SDK makes of each of them is its own affair.
 */

test("traces reach a collector with the environment's headers and attributes, which override our own", async (context) => {
  const receiver = await startReceiver();
  const { child, graphqlUrl } = await startServing(context, {
    ...LIVE,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=canary%207f3a',
    OTEL_SERVICE_NAME: 'trust-of-the-shop',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=another,service.namespace=shop,service.instance.id=pod-1,url=a%3Db',
    OTEL_TRACES_SAMPLER_ARG: '1',
  });
  await request(graphqlUrl, json('{"query":"{ __typename }"}'));
  expect(await child.end('SIGTERM')).toBe(0);
  expect(`${child.stdout()}${child.stderr()}`).not.toMatch(/canary|Traces are lost|have no effect/);
  expect(receiver.bytes()).toContain('"api-key":"canary 7f3a"');
  expect(receiver.resources()).toMatchObject([
    { 'service.name': 'trust-of-the-shop', 'service.namespace': 'shop', 'service.instance.id': 'pod-1', url: 'a=b' },
  ]);
});
