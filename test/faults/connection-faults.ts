import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { onTestFinished } from 'vitest';
import { makeCertificate } from '../support/certificate.ts';
import { answer, startHostile } from '../support/hostile.ts';
import { type Material, NEVER_WORKED, type Row, type Target } from './fault-table.ts';
import { nobodyAt, startBlackHole, startRefusing } from './unreachable.ts';

/** Upstreams to which no connection can be made, or none that can be trusted. Nothing is sent, so nobody reads our credentials. */

const DAY_MS = 24 * 60 * 60 * 1000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);

interface Identity {
  readonly host: string;
  /** When it ends, in days from now. */
  readonly ends: number;
  readonly trusted: boolean;
}

/** A TLS server, as `localhost`, with a certificate that this process trusts or not as long as the test runs. */
function startTls({ good }: Material, { host, ends, trusted }: Identity): Promise<Target> {
  const tls = makeCertificate({ host, notBefore: inDays(-9), notAfter: inDays(ends) });
  const usual = getCACertificates('default');
  setDefaultCACertificates(trusted ? [...usual, tls.cert] : usual);
  onTestFinished(() => setDefaultCACertificates(usual));
  return startHostile(answer(200, good), { tls });
}

/** A name that no resolver finds, without a server being asked: a label has at most 63 characters (RFC 1035, 2.3.4). */
const NO_HOST = 'n'.repeat(64);

const unavailable = { fingerprint: 'UPSTREAM_UNAVAILABLE', captcha: NEVER_WORKED } as const;
const untrusted = { fingerprint: 'UPSTREAM_REJECTED', captcha: NEVER_WORKED } as const;

export const CONNECTION_FAULTS: readonly Row[] = [
  { fault: 'refuses connections', start: startRefusing, expected: unavailable, calls: 0 },
  {
    fault: 'has a name that cannot be resolved',
    start: async () => nobodyAt(NO_HOST, 65_432),
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
    start: (material) => startTls(material, { host: 'localhost', ends: -1, trusted: true }),
    expected: untrusted,
    calls: 0,
  },
  {
    fault: 'shows the certificate of another host',
    start: (material) => startTls(material, { host: 'upstream.example', ends: 1, trusted: true }),
    expected: untrusted,
    calls: 0,
  },
  {
    fault: 'shows a certificate that nobody vouches for',
    start: (material) => startTls(material, { host: 'localhost', ends: 1, trusted: false }),
    expected: untrusted,
    calls: 0,
  },
  {
    fault: 'shows a good certificate, which is no fault',
    start: (material) => startTls(material, { host: 'localhost', ends: 1, trusted: true }),
    expected: { fingerprint: { clientType: 'ANDROID' }, captcha: { __typename: 'CaptchaPassed', proceed: true } },
    calls: 1,
  },
];
