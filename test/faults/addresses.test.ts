import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createApp } from '../../src/app.ts';
import type { Config } from '../../src/config/variables.ts';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { readMetrics } from '../observability/exposition.ts';
import { DEFAULTS } from '../support/app.ts';
import { makeCertificate } from '../support/certificate.ts';
import { solveChallenge } from '../support/challenges.ts';
import { CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { answer, type Behaviour, startHostile } from '../support/hostile.ts';
import { ask } from '../support/requests.ts';
import { ANDROID, FAIL } from './documented.ts';
import { startAgainst } from './expectations.ts';
import { expectNothingUnhandled } from './process-watch.ts';

/** Mistakes of the configuration, and somebody between us and a service: neither is an outage, so no captcha proceeds. */

expectNothingUnhandled();

const BOGUS = { lotNumber: 'lot-one', captchaOutput: 'o', passToken: 'p', genTime: '1' };
const OF_EU = 'c'.repeat(32);
/** The host of a typing mistake. No resolver finds it, because a label has at most 63 characters. */
const TYPO = `http://${'x'.repeat(64)}`;
const GRACE_MS = 300;

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
  const verify = async (captchaId?: string) => {
    const { data, errors } = await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: { ...BOGUS, captchaId } });
    return data.validateCaptcha ?? errors?.[0]?.extensions;
  };
  const readiness = async () => (await fetch(`${app.url}/readyz`)).status;
  return { app, config, lines, verify, readiness };
}

async function startWorking(): Promise<string> {
  const upstream = await startHostile(works);
  onTestFinished(upstream.stop);
  return upstream.url;
}

describe('a typing mistake in the host of CAPTCHA_URL_EU', () => {
  const NEVER = { __typename: 'CaptchaIndeterminate', cause: 'CONFIGURATION', proceed: false };

  test('keeps a process that checks all accounts from becoming ready, with one line that names the account', async () => {
    const { lines, verify, readiness } = await start(await startWorking(), {
      captchaUrlEu: TYPO,
      upstreamCheck: 'all',
    });
    await expect.poll(() => lines.filter(({ health }) => health === 'refused')).toHaveLength(1);
    await sleep(3 * GRACE_MS);
    expect(await readiness()).toBe(503);
    const complaints = lines.filter(({ level }) => ['warn', 'error'].includes(level));
    expect(complaints).toMatchObject([
      { level: 'error', account: OF_EU, msg: expect.stringContaining('not become ready') },
    ]);
    expect(await verify(OF_EU)).toMatchObject(NEVER);
  });

  test('does not if only the first account is checked: then it is an error in the log, and never proceeds', async () => {
    const { app, lines, verify, readiness } = await start(await startWorking(), { captchaUrlEu: TYPO });
    await app.ready;
    expect(await readiness()).toBe(200);
    await expect.poll(() => lines.filter(({ level }) => level === 'error')).toMatchObject([{ account: OF_EU }]);
    for (let attempt = 0; attempt < 3; attempt += 1) expect(await verify(OF_EU)).toMatchObject(NEVER);
    expect(await verify()).toMatchObject({ __typename: 'CaptchaFailed' });
  });

  test('never proceeds without a check either', async () => {
    const { verify } = await start(await startWorking(), { captchaUrlEu: TYPO, upstreamCheck: 'off' });
    for (let attempt = 0; attempt < 3; attempt += 1) expect(await verify(OF_EU)).toMatchObject(NEVER);
  });

  test('in the path leads to a page, which never proceeds', async () => {
    const page = await startHostile(answer(200, '<html>'), { probe: answer(200, '<html>') });
    onTestFinished(page.stop);
    const { app, verify, lines } = await start(await startWorking(), { captchaUrlEu: page.url });
    await app.ready;
    for (let attempt = 0; attempt < 3; attempt += 1) expect(await verify(OF_EU)).toMatchObject(NEVER);
    await expect.poll(() => lines.map(({ msg }) => msg).join()).toContain('has never answered this process');
  });
});

test('what could be an outage at the start delays readiness for the time of grace, and no longer', async () => {
  const down = answer(503, '');
  const upstream = await startHostile(down, { probe: down });
  onTestFinished(upstream.stop);
  const startedAt = performance.now();
  const { app, readiness, verify } = await start(upstream.url, {});
  expect(await readiness()).toBe(503);
  await app.ready;
  expect(performance.now() - startedAt).toBeGreaterThan(GRACE_MS);
  expect(await readiness()).toBe(200);
  expect(await verify()).toMatchObject({ cause: 'CONFIGURATION', proceed: false });
});

describe('a service that worked and then shows a certificate', () => {
  const DAY_MS = 24 * 60 * 60 * 1_000;
  const certificateOf = (host: string) =>
    makeCertificate({ host, notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + DAY_MS) });

  test.each([
    ['that nobody vouches for', 'localhost', false],
    ['of another host', 'upstream.example', true],
  ])('%s is not down: nothing proceeds, and nothing is sent to it', async (_title, host, isTrusted) => {
    const { getCACertificates, setDefaultCACertificates } = await import('node:tls');
    const [tls, other] = [certificateOf('localhost'), certificateOf(host)];
    const usual = getCACertificates('default');
    onTestFinished(() => setDefaultCACertificates(usual));
    setDefaultCACertificates([...usual, tls.cert, ...(isTrusted ? [other.cert] : [])]);
    const upstream = await startHostile(
      (exchange) => {
        works(exchange);
        // So that the next call opens a connection.
        exchange.socket.end();
      },
      { tls },
    );
    onTestFinished(upstream.stop);
    const app = await startAgainst(upstream, 5_000);
    onTestFinished(app.stop);
    const verify = async () => (await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: BOGUS })).data.validateCaptcha;
    const judge = () => ask(app.graphqlUrl, FINGERPRINT_QUERY, { token: 't' });
    expect(await verify()).toMatchObject({ __typename: 'CaptchaFailed' });
    expect((await judge()).data.deviceFingerprint).toMatchObject({ __typename: 'DeviceFingerprint' });
    await expect.poll(() => upstream.open).toBe(0);

    upstream.changeCertificate(other);
    const sent = upstream.requests;
    for (const end = performance.now() + 1_500; performance.now() < end; await sleep(100)) {
      expect(await verify()).toMatchObject({ cause: 'CONFIGURATION', proceed: false });
      expect((await judge()).errors).toMatchObject([{ extensions: { code: 'UPSTREAM_REJECTED' } }]);
    }
    expect(upstream.requests).toBe(sent);
    expect(app.logged()).toContain('"health":"refused"');
    expect(app.logged()).not.toContain('"health":"outage"');
  });
});

test('a rotation to a wrong key is an error in the log and a metric, and changes readiness no more', async () => {
  const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
  onTestFinished(sandbox.stop);
  const { GLB, NA, EU } = sandbox.urls;
  const { app, config, lines, readiness } = await start(GLB, {
    ...{ fingerprintUrlNa: NA, fingerprintUrlEu: EU, captchaUrlNa: NA, captchaUrlEu: EU },
    fingerprintApplications: SANDBOX_APPLICATIONS.slice(0, 3),
    captchaConfigurations: SANDBOX_CAPTCHAS.slice(0, 3),
  });
  await app.ready;
  const captchaConfigurations = SANDBOX_CAPTCHAS.slice(0, 3).map((row, index) =>
    index === 0 ? { ...row, captchaKey: 'wrong' } : row,
  );
  app.rotate({ ...config, captchaConfigurations });
  const [{ captchaId: account }] = SANDBOX_CAPTCHAS as readonly [(typeof SANDBOX_CAPTCHAS)[number]];
  await expect
    .poll(() => lines.filter(({ level }) => level === 'error'))
    .toMatchObject([{ account, health: 'refused', reason: 'illegal sign_token' }]);
  const refused = { service: 'captcha', account, state: 'refused' };
  expect((await readMetrics(app)).value('device_trust_upstream_health', refused)).toBe(1);
  expect(await readiness()).toBe(200);
  const input = { ...(await solveChallenge(GLB)) };
  const { data } = await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input });
  expect(data.validateCaptcha).toMatchObject({ category: 'ILLEGAL_SIGN_TOKEN', proceed: false });
});
