import { connect, createServer, type Socket } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { makeCertificate } from '../support/certificate.ts';
import { answer, startHostile } from '../support/hostile.ts';
import { listen } from '../support/loopback.ts';
import { NEVER_WORKED, type Row, type Target } from './fault-table.ts';

/**
 * Upstreams to which no connection can be made, or none that can be trusted. Nothing is sent, so nobody reads our credentials.
 * The rows with certificates change what the process trusts.
 */

/** Nothing can arrive there. */
function nobodyAt(host: string, port: number, stop = async () => {}): Target {
  return { url: `http://${host}:${port}`, port, requests: 0, spokenTo: 0, open: 0, stop };
}

/** An address that refuses connections. One old connection is kept open, so that no other server can get the port. */
async function startRefusing(): Promise<Target> {
  const server = createServer();
  const port = await listen(server);
  const keeper = connect(port, '127.0.0.1').on('error', () => {});
  const kept = await new Promise<Socket>((resolve) => server.once('connection', resolve));
  kept.on('error', () => {});
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  return nobodyAt('127.0.0.1', port, () => {
    keeper.destroy();
    kept.destroy();
    return closed;
  });
}

const NEVER_ACCEPTING = `
  const { parentPort } = require('node:worker_threads');
  const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    parentPort.postMessage(server.address().port);
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0));
  });
`;

/** An address where connecting neither succeeds nor fails, because the listening process sleeps and its queue is full. Undefined if the system cannot do that. */
async function startBlackHole(): Promise<Target | undefined> {
  const worker = new Worker(NEVER_ACCEPTING, { eval: true });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const queue: Socket[] = [];
  const stop = async () => {
    for (const socket of queue) socket.destroy();
    await worker.terminate();
  };
  for (let full = false; !full; ) {
    if (queue.length === 16) return void (await stop());
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    queue.push(socket);
    full = await Promise.race([
      new Promise<boolean>((resolve) => socket.once('connect', () => resolve(false))),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 300)),
    ]);
  }
  return nobodyAt('127.0.0.1', port, stop);
}

const DAY_MS = 24 * 60 * 60 * 1000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);
const USUAL = getCACertificates('default');
/** By their hosts: of two with one name, a client might look at the wrong one. */
const trusted = new Map<string, string>();

/** A TLS server, as `localhost`, with a certificate for a host that ends in so many days. From now on the process trusts it or not. */
function shows(host: string, ends: number, isTrusted = true): Row['start'] {
  const tls = makeCertificate({ host, notBefore: inDays(-9), notAfter: inDays(ends) });
  return ({ good }) => {
    if (isTrusted) trusted.set(host, tls.cert);
    setDefaultCACertificates([...USUAL, ...trusted.values()]);
    return startHostile(answer(200, good), { tls });
  };
}

const unavailable = { fingerprint: 'UPSTREAM_UNAVAILABLE', captcha: NEVER_WORKED } as const;
const untrusted = { fingerprint: 'UPSTREAM_REJECTED', captcha: NEVER_WORKED } as const;

export const CONNECTION_FAULTS: readonly Row[] = [
  { fault: 'refuses connections', start: startRefusing, expected: unavailable, calls: 0 },
  {
    fault: 'has a name that cannot be resolved',
    // No resolver finds it, and no server is asked: a label has at most 63 characters (RFC 1035, 2.3.4).
    start: async () => nobodyAt('n'.repeat(64), 65_432),
    expected: unavailable,
    calls: 0,
  },
  {
    fault: 'neither takes connections nor refuses them',
    start: startBlackHole,
    expected: { fingerprint: 'UPSTREAM_TIMEOUT', captcha: NEVER_WORKED },
    calls: 0,
  },
  {
    fault: 'shows a certificate that has expired',
    start: shows('localhost', -1),
    expected: untrusted,
    calls: 0,
    reason: 'CERT_HAS_EXPIRED',
  },
  {
    fault: 'shows the certificate of another host',
    start: shows('upstream.example', 1),
    expected: untrusted,
    calls: 0,
    reason: 'ERR_TLS_CERT_ALTNAME_INVALID',
  },
  {
    fault: 'shows a certificate that nobody vouches for',
    start: shows('localhost', 1, false),
    expected: untrusted,
    calls: 0,
    reason: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  },
  {
    fault: 'shows a good certificate, which is no fault',
    start: shows('localhost', 1),
    expected: { fingerprint: { clientType: 'ANDROID' }, captcha: { __typename: 'CaptchaPassed', proceed: true } },
    calls: 1,
  },
];
