import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { makeCertificate } from '../support/certificate.ts';
import { answer, type Behaviour } from '../support/hostile.ts';
import { ANDROID, FAIL } from './documented.ts';
import { askTimed, FINGERPRINT, pause, startAgainst, startSwitchable, verify } from './support.ts';

/** Somebody between us and a service. `test/upstream/certificates.isolated.test.ts` has every kind of certificate. */

const works: Behaviour = (exchange) => {
  const isCaptcha = exchange.request.startsWith('POST /validate');
  answer(200, JSON.stringify(isCaptcha ? FAIL : ANDROID))(exchange);
  // So that the next call opens a connection.
  exchange.socket.end();
};

const DAY_MS = 24 * 60 * 60 * 1_000;
const makeOne = () =>
  makeCertificate({
    host: 'localhost',
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + DAY_MS),
  });

test('a service that worked and then shows a certificate that nobody vouches for is not down: nothing proceeds, and nothing is sent to it', async () => {
  const [tls, other] = [makeOne(), makeOne()];
  setDefaultCACertificates([...getCACertificates('default'), tls.cert]);
  const upstream = await startSwitchable(works, { tls });
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
  await expect.poll(app.logged).toContain('"health":"refused"');
  expect(app.logged()).not.toContain('"health":"outage"');
});
