import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { makeCertificate } from '../support/certificate.ts';
import { answer, type Behaviour } from '../support/hostile.ts';
import { ANDROID, FAIL } from './documented.ts';
import { askTimed, FINGERPRINT, pause, startAgainst, startSwitchable, verify } from './support.ts';

/** A mistake of the configuration, or somebody between us and a service: neither is an outage, so no captcha proceeds. */

const works: Behaviour = (exchange) => {
  const isCaptcha = exchange.request.startsWith('POST /validate');
  answer(200, JSON.stringify(isCaptcha ? FAIL : ANDROID))(exchange);
};

const USUAL = getCACertificates('default');
const DAY_MS = 24 * 60 * 60 * 1_000;
const certificateOf = (host: string) =>
  makeCertificate({ host, notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + DAY_MS) });

test.each([
  ['that nobody vouches for', 'localhost', false],
  ['of another host', 'upstream.example', true],
])(
  'a service that worked and then shows a certificate %s is not down: nothing proceeds, and nothing is sent to it',
  async (_title, host, isTrusted) => {
    const [tls, other] = [certificateOf('localhost'), certificateOf(host)];
    setDefaultCACertificates([...USUAL, tls.cert, ...(isTrusted ? [other.cert] : [])]);
    const worksOnce: Behaviour = (exchange) => {
      works(exchange);
      // So that the next call opens a connection.
      exchange.socket.end();
    };
    const upstream = await startSwitchable(worksOnce, { tls });
    onTestFinished(upstream.stop);
    const app = await startAgainst(upstream, 5_000);
    onTestFinished(app.stop);
    expect(await verify(app)).toMatchObject({ __typename: 'CaptchaFailed' });
    expect((await askTimed(app, FINGERPRINT)).data.deviceFingerprint.__typename).toBe('DeviceFingerprint');
    await expect.poll(() => upstream.open).toBe(0);

    upstream.changeCertificate(other);
    const sent = upstream.requests;
    // Two failed probes would confirm an outage after 300 ms.
    for (const end = performance.now() + 800; performance.now() < end; await pause(100)) {
      expect(await verify(app)).toMatchObject({ cause: 'CONFIGURATION', proceed: false });
      expect((await askTimed(app, FINGERPRINT)).errors).toMatchObject([{ extensions: { code: 'UPSTREAM_REJECTED' } }]);
    }
    expect(upstream.requests).toBe(sent);
    expect(app.logged()).toContain('"health":"refused"');
    expect(app.logged()).not.toContain('"health":"outage"');
  },
);
