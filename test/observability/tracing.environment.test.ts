import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type Context, LIVE, startServing } from '../process/environments.ts';
import { makeCertificate } from '../support/certificate.ts';
import { listen } from '../support/loopback.ts';
import { json, request } from '../support/requests.ts';
import { attributesOf } from './otlp-receiver.ts';

/**
 * The variables that OpenTelemetry's SDK reads by itself
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/, and
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/).
 */

const DAY = 86_400_000;
const certificate = (host: string) =>
  makeCertificate({ host, notBefore: new Date(Date.now() - DAY), notAfter: new Date(Date.now() + DAY) });

/** A collector that is known only to its own CA, and that accepts only one client. Keeps the last export. */
async function startCollector({ onTestFinished }: Context, options: ServerOptions) {
  const exports: { headers: NodeJS.Dict<string | string[]>; body: Buffer }[] = [];
  const server = createServer({ ...options, requestCert: true }, async (received, response) => {
    exports.push({ headers: received.headers, body: await buffer(received) });
    response.setHeader('content-type', 'application/json').end('{}');
  });
  const port = await listen(server);
  onTestFinished(async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  });
  return { port, exports };
}

test("traces reach a collector with its own CA and client certificates, with the environment's headers, compression and attributes", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'collector-'));
  context.onTestFinished(() => rm(folder, { recursive: true }));
  const [server, client] = [certificate('localhost'), certificate('device-trust')];
  const fileOf = async (name: string, text: string) => {
    await writeFile(join(folder, name), text);
    return join(folder, name);
  };
  const collector = await startCollector(context, { ...server, ca: client.cert });
  const { child, graphqlUrl } = await startServing(context, {
    ...LIVE,
    OTEL_EXPORTER_OTLP_ENDPOINT: `https://localhost:${collector.port}`,
    OTEL_EXPORTER_OTLP_CERTIFICATE: await fileOf('ca.pem', server.cert),
    OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: await fileOf('client.pem', client.cert),
    OTEL_EXPORTER_OTLP_CLIENT_KEY: await fileOf('client.key', client.key),
    OTEL_EXPORTER_OTLP_HEADERS: 'api-key=canary%207f3a',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_SERVICE_NAME: 'trust-of-the-shop',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=another,service.namespace=shop,service.instance.id=pod-1,url=a%3Db',
    OTEL_TRACES_SAMPLER_ARG: '1',
  });
  await request(graphqlUrl, json('{"query":"{ __typename }"}'));
  expect(await child.end('SIGTERM')).toBe(0);
  expect(`${child.stdout()}${child.stderr()}`).not.toMatch(/canary|Traces are lost|have no effect/);
  expect(collector.exports.map(({ headers }) => headers)).toMatchObject([{ 'api-key': 'canary 7f3a' }]);
  const [{ resource }] = JSON.parse(gunzipSync(collector.exports[0]?.body ?? '').toString()).resourceSpans;
  expect(attributesOf(resource)).toMatchObject({
    'service.name': 'trust-of-the-shop',
    'service.namespace': 'shop',
    'service.instance.id': 'pod-1',
    url: 'a=b',
  });
});
