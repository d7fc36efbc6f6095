import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { createDnsCache } from '../../src/runtime/dns.ts';
import { sendProbe } from '../../src/upstream/probe.ts';
import { makeCertificate } from '../support/certificate.ts';
import { answer, hang, startHostile } from '../support/hostile.ts';
import { untilEnd } from '../support/until-end.ts';
import { asIs, createContext, createTestClient, probeOf, requestTo } from './support.ts';

/** Which certificates are accepted, and who has to act if one is not. The tests change whom this process trusts. */

const DAY = 24 * 60 * 60 * 1000;
const usual = getCACertificates('default');
afterAll(() => setDefaultCACertificates(usual));

/** A server with such a certificate for `host`, which is valid between these days from now. */
async function start(host: string, fromDay = -1, toDay = 1) {
  const [notBefore, notAfter] = [fromDay, toDay].map((day) => new Date(Date.now() + day * DAY));
  if (!notBefore || !notAfter) throw new Error('expected two days');
  const tls = makeCertificate({ host, notBefore, notAfter });
  const heads: string[] = [];
  const names: unknown[] = [];
  const upstream = await startHostile(
    (exchange) => {
      heads.push(exchange.request);
      names.push(Object(exchange.socket).servername);
      exchange.socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      answer(200, '{}')(exchange);
    },
    { tls },
  );
  onTestFinished(upstream.stop);
  return { tls, upstream, heads, names };
}

const trust = (...servers: Awaited<ReturnType<typeof start>>[]) =>
  setDefaultCACertificates([...usual, ...servers.map(({ tls }) => tls.cert)]);

test('a host name stays the name that the certificate is for, and the one in the header `Host`', async () => {
  const server = await start('upstream.example');
  trust(server);
  const dns = createDnsCache(undefined, async () => [{ address: '127.0.0.1', family: 4 }]);
  const client = createTestClient({ dns });
  const post = (host: string) =>
    client.call(requestTo(`https://${host}:${server.upstream.port}`, createContext()), asIs);
  for (let call = 1; call <= 2; call += 1) expect(await post('upstream.example')).toMatchObject({ status: 200 });
  expect(server.heads.join()).toContain(`\r\nhost: upstream.example:${server.upstream.port}\r\n`);
  // A name in TLS has no final dot (RFC 6066, section 3).
  expect(await post('upstream.example.')).toMatchObject({ status: 200 });
  expect(new Set(server.names)).toEqual(new Set(['upstream.example']));
  // Whoever is there is not the upstream, so this is no outage.
  await expect(post('other.example')).rejects.toMatchObject({ code: 'UPSTREAM_REJECTED' });
});

test('a probe blames us for a certificate that we do not accept: an unknown issuer, another host, one that has expired', async () => {
  const good = await start('localhost');
  const unknown = await start('localhost');
  const otherHost = await start('other.example');
  const expired = await start('localhost', -3, -2);
  trust(good, otherHost, expired);
  const dns = createDnsCache();
  const { signal } = new AbortController();
  const tools = { dns, eventLoop: { totalLagMs: () => 0 }, timeoutMs: 60_000 };
  const shown: [evidence: string, reason: string][] = [];
  // One after the other: the first look-up of the host takes a part of its deadline.
  for (const { upstream } of [good, unknown, otherHost, expired]) {
    const { evidence, reason } = await sendProbe(probeOf(upstream.url), tools, signal);
    shown.push([evidence, reason]);
  }
  expect(shown).toEqual([
    ['well', ''],
    ['undocumented_refusal', 'Error DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['undocumented_refusal', 'Error ERR_TLS_CERT_ALTNAME_INVALID'],
    ['undocumented_refusal', 'Error CERT_HAS_EXPIRED'],
  ]);
});

test('a service with an address that never finishes TLS is reached at the other one, by the call, by the next probe, and for a minute', async () => {
  const server = await start('upstream.example');
  trust(server);
  const { port } = server.upstream;
  const dead = await untilEnd(startHostile(hang, { at: [port, '127.0.0.2'] }));
  const url = `https://upstream.example:${port}`;
  const addresses = ['127.0.0.2', '127.0.0.1'].map((address) => ({ address, family: 4 }));
  const startDns = () => createDnsCache(undefined, async () => addresses);
  const dns = startDns();
  const { signal } = new AbortController();
  const tools = { dns, eventLoop: { totalLagMs: () => 0 }, timeoutMs: 60_000 };
  const probe = probeOf(url);
  const [, next] = [1, 2].map(() => sendProbe(probe, tools, signal));
  const call = (dns = startDns()) => createTestClient({ dns }).call(requestTo(url, createContext()), asIs);
  expect(await next).toMatchObject({ evidence: 'well' });
  expect([dead.connections, server.upstream.requests]).toEqual([1, 1]);
  expect(await call()).toMatchObject({ status: 200 });
  expect(dead.connections).toBe(2);
  // The first probe has found out in the meantime.
  expect(await call(dns)).toMatchObject({ status: 200 });
  expect(dead.connections).toBe(2);
});

test('two of three addresses that never finish TLS make no probe blame the service', async () => {
  const server = await start('upstream.example');
  trust(server);
  const { port } = server.upstream;
  for (const address of ['127.0.0.2', '127.0.0.3']) await untilEnd(startHostile(hang, { at: [port, address] }));
  const addresses = ['127.0.0.2', '127.0.0.3', '127.0.0.1'].map((address) => ({ address, family: 4 }));
  const dns = createDnsCache(undefined, async () => addresses);
  const tools = { dns, eventLoop: { totalLagMs: () => 0 }, timeoutMs: 60_000 };
  const probe = probeOf(`https://upstream.example:${port}`);
  const { signal } = new AbortController();
  expect(await sendProbe(probe, tools, signal)).toMatchObject({ evidence: 'local_failure' });
  expect(await sendProbe(probe, tools, signal)).toMatchObject({ evidence: 'well' });
});
