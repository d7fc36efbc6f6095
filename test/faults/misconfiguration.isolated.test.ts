import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { Config } from '../../src/config/variables.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { DEFAULTS } from '../support/app.ts';
import { makeCertificate } from '../support/certificate.ts';
import { answer, type Behaviour } from '../support/hostile.ts';
import { ANDROID, FAIL } from './documented.ts';
import { ACCOUNTS, askTimed, BOGUS, FINGERPRINT, pause, startAgainst, startSwitchable, verify } from './support.ts';

/** Mistakes of the configuration, and somebody between us and a service: neither is an outage, so no captcha proceeds. */

const OF_EU = ACCOUNTS.EU.captchaId;
/** The host of a typing mistake. No resolver finds it, because a label has at most 63 characters. */
const TYPO = `http://${'x'.repeat(64)}`;
const GRACE_MS = 200;

const works: Behaviour = (exchange) => {
  const isCaptcha = exchange.request.startsWith('POST /validate');
  answer(200, JSON.stringify(isCaptcha ? FAIL : ANDROID))(exchange);
};

interface LogLine {
  readonly level: string;
  readonly account?: string;
  readonly health?: string;
  readonly msg: string;
}

/** An app that may never become ready, with the lines of its log. */
async function start(url: string, overrides: Partial<Config>) {
  const lines: LogLine[] = [];
  const config: Config = {
    ...DEFAULTS,
    upstreamMode: 'live',
    fingerprintApplications: SANDBOX_APPLICATIONS,
    captchaConfigurations: SANDBOX_CAPTCHAS,
    ...{ fingerprintUrlGlb: url, fingerprintUrlNa: url, fingerprintUrlEu: url },
    ...{ captchaUrlGlb: url, captchaUrlNa: url, captchaUrlEu: url },
    upstreamCheckGraceMs: GRACE_MS,
    ...overrides,
  };
  const formatters = { level: (level: string) => ({ level }) };
  const log = pino({ formatters }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const app = await createApp(config, log);
  onTestFinished(app.stop);
  const readiness = async () => (await fetch(`${app.url}/readyz`)).status;
  return { app, config, lines, readiness };
}

async function startUpstream(behave: Behaviour, probe?: Behaviour): Promise<string> {
  const upstream = await startSwitchable(behave, probe && { probe });
  onTestFinished(upstream.stop);
  return upstream.url;
}

test('a typing mistake in CAPTCHA_URL_EU keeps a process that checks all accounts from becoming ready, with one line about it', async () => {
  const { app, lines, readiness } = await start(await startUpstream(works), {
    captchaUrlEu: TYPO,
    upstreamCheck: 'all',
  });
  await expect.poll(() => lines.filter(({ health }) => health === 'refused')).toHaveLength(1);
  await pause(GRACE_MS);
  expect(await readiness()).toBe(503);
  expect(lines.filter(({ level }) => ['warn', 'error'].includes(level))).toMatchObject([
    { level: 'error', account: OF_EU, msg: expect.stringContaining('not become ready') },
  ]);
  const never = { __typename: 'CaptchaIndeterminate', cause: 'CONFIGURATION', proceed: false };
  expect(await verify(app, { ...BOGUS, captchaId: OF_EU })).toMatchObject(never);
});

describe('a service that worked and then shows a certificate', () => {
  const USUAL = getCACertificates('default');
  const DAY_MS = 24 * 60 * 60 * 1_000;
  const certificateOf = (host: string) =>
    makeCertificate({ host, notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + DAY_MS) });

  test.each([
    ['that nobody vouches for', 'localhost', false],
    ['of another host', 'upstream.example', true],
  ])('%s is not down: nothing proceeds, and nothing is sent to it', async (_title, host, isTrusted) => {
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
  });
});
