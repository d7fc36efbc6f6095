import { describe, expect, onTestFinished, test } from 'vitest';
import {
  answer,
  type Behaviour,
  bytes,
  closeConnection,
  head,
  type RawRequest,
  reset,
  thenClose,
} from '../support/hostile.ts';
import { ANDROID, altered, KEPT_OPEN } from './documented.ts';
import { NO_ANSWER } from './fault-table.ts';
import {
  askTimed,
  CAPTCHA,
  crowd,
  expectData,
  expectError,
  expectGood,
  FINGERPRINT,
  good,
  SERVICES,
  startBoth,
  verify,
} from './support.ts';

/** What happens on one connection to an upstream means nothing for requests after it and beside it. */

const start = (behave: Behaviour, deadlineMs = 60_000) => startBoth({ onTestFinished }, behave, deadlineMs);

/** The answer about a device of this name. */
const deviceAnswer = (name: string, headers = {}) =>
  answer(200, altered(ANDROID, 'data.fp_detail.device_id', name), headers);
const about = (id: string) => ({ device: { id } });
/** Sooner than an idle connection is closed that was to be kept open, which is after 10 s. */
const SOONER = { timeout: 9_000 };

describe('one answer is never taken for another', () => {
  test('if there are two to one request', async () => {
    const { upstream, app } = await start((exchange) => {
      // Written at once, so that both arrive in one piece.
      exchange.socket.cork();
      for (const kind of ['own', 'surplus']) deviceAnswer(`${kind}-${exchange.nth}`)(exchange);
      exchange.socket.uncork();
    });
    expectData(await askTimed(app, FINGERPRINT), 'deviceFingerprint', about('own-1'));
    expectData(await askTimed(app, FINGERPRINT), 'deviceFingerprint', about('own-2'));
    expect(upstream.requests).toBe(2);
  });

  test('if one comes after the deadline', async () => {
    const held: RawRequest[] = [];
    const { upstream, app } = await start((exchange) => {
      if (exchange.nth === 1) held.push(exchange);
      else deviceAnswer('in-time')(exchange);
    }, 1_500);
    const { errors } = await askTimed(app, FINGERPRINT);
    // OVERLOADED where the machine kept this process from running meanwhile: either way the deadline has passed.
    expect(errors).toMatchObject([{ extensions: { code: expect.stringMatching(/^(UPSTREAM_TIMEOUT|OVERLOADED)$/) } }]);
    expect(held).toHaveLength(1);
    for (const exchange of held) deviceAnswer('late', KEPT_OPEN)(exchange);
    await expect.poll(() => upstream.open, SOONER).toBe(0);
    expectData(await askTimed(app, FINGERPRINT), 'deviceFingerprint', about('in-time'));
  });
});

describe.each(SERVICES)('at the %s service', (_service, question) => {
  test('an idle connection that the upstream closed is not used again', async () => {
    const { upstream, app } = await start(thenClose(good(question)));
    for (let round = 1; round <= 3; round += 1) {
      expectGood(question, await askTimed(app, question));
      await expect.poll(() => upstream.open).toBe(0);
      expect(upstream.requests).toBe(round);
    }
  });

  /** Nobody can know whether the upstream processed the request before the reset, or was just closing the connection. */
  test.each<[string, Behaviour]>([
    ['resets', reset],
    ['closes', closeConnection],
  ])(
    'an idle connection that the upstream %s at the next request is its failure, and nothing is sent again',
    async (_how, ends) => {
      const { upstream, app } = await start((exchange) => (exchange.nth === 1 ? good(question) : ends)(exchange));
      expectGood(question, await askTimed(app, question));
      expect(upstream.open).toBe(1);
      const answered = await askTimed(app, question);
      if (question === FINGERPRINT) expectError(answered, 'UPSTREAM_UNAVAILABLE');
      else expectData(answered, 'validateCaptcha', NO_ANSWER);
      expect(upstream).toMatchObject({ requests: 2, spokenTo: 1, connections: 1 });
    },
  );

  // This is unusual, but HTTP allows it.
  test.each<[string, Behaviour]>([
    [
      'hints before the answer',
      (exchange) => {
        exchange.socket.write('HTTP/1.1 103 Early\r\n\r\n');
        good(question)(exchange);
      },
    ],
    [
      'an answer of one-byte chunks',
      bytes(`${head(200, { 'transfer-encoding': 'chunked' })}${question.good.replace(/./g, '1\r\n$&\r\n')}0\r\n\r\n`),
    ],
    ['a body that ends with the connection', thenClose(bytes(head(200, { connection: 'close' }) + question.good))],
    ['no content type', answer(200, question.good, { 'content-type': '' })],
    ['a body of exactly 256 KiB', answer(200, question.good.padEnd(256 * 1024))],
  ])('an answer is understood although it is unusual: %s', async (_name, behave) => {
    const { app } = await start(behave);
    expectGood(question, await askTimed(app, question));
  });
});

test.each<[string, Behaviour]>([
  ['is cut off', thenClose(answer(200, CAPTCHA.good, { 'content-length': '9999' }))],
  ['is no HTTP', bytes('SSH-2.0-OpenSSH\r\n')],
])('an answer about a captcha that %s proceeds under no policy', async (_what, behave) => {
  const { app } = await startBoth({ onTestFinished }, behave, 10_000, { captchaFailOpen: 'always' });
  expect(await verify(app)).toMatchObject({ cause: 'TRANSPORT', proceed: false });
});

test('calls that end well keep as many sockets as were needed at once, until the app stops', async () => {
  const { upstream, app } = await start(answer(200, FINGERPRINT.good, KEPT_OPEN));
  for (let round = 0; round < 5; round += 1) await crowd(app, FINGERPRINT, 10);
  expect(upstream.requests).toBe(50);
  expect(upstream.open).toBeLessThanOrEqual(10);
  expect(upstream.open).toBeGreaterThan(0);
  await app.stop();
  await expect.poll(() => upstream.open, SOONER).toBe(0);
});
