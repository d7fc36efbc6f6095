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
  thenReset,
} from '../support/hostile.ts';
import { UNLESS_LATE } from '../support/steady.ts';
import { CHECKED, FIRST, type Outcome, proceeded, untilProceeding } from './captchas.ts';
import { ANDROID, altered, FAIL, KEPT_OPEN } from './documented.ts';
import { NO_ANSWER } from './fault-table.ts';
import {
  askTimed,
  CAPTCHA,
  expectData,
  expectError,
  expectGood,
  FINGERPRINT,
  good,
  pause,
  SERVICES,
  startBoth,
  verify,
} from './support.ts';

/** What happens on one connection to an upstream means nothing for requests after it and beside it. */

const start = (behave: Behaviour, deadlineMs = 60_000) => startBoth({ onTestFinished }, behave, deadlineMs);

/** Nobody has asked for them, and any number may come (RFC 9110, 15.2). Some versions of IIS send the first one. */
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 103 \r\n\r\n';
/** The hints come once in one piece, and once byte by byte. */
const afterInterim =
  (behave: Behaviour): Behaviour =>
  async (exchange) => {
    for (const piece of [CONTINUE, HINTS, ...HINTS]) {
      exchange.socket.write(piece);
      await pause(1);
    }
    behave(exchange);
  };

/** The answer about a device of this name. */
const deviceAnswer = (name: string, headers = {}) =>
  answer(200, altered(ANDROID, 'data.fp_detail.device_id', name), headers);
const about = (id: string) => ({ device: { id } });
/** Sooner than an idle connection is closed that was to be kept open, which is after 10 s. */
const SOONER = { timeout: 9_000 };

describe('one answer is never taken for another', () => {
  test('two answers to one request: the second is never taken for that of another', async () => {
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

  test('an answer after the deadline is never taken for that of another request', async () => {
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
    'a call is not retried if the upstream %s an idle connection at the next request: it is a failure of the upstream',
    async (_how, ends) => {
      const { upstream, app } = await start((exchange) => (exchange.nth === 1 ? good(question) : ends)(exchange));
      expectGood(question, await askTimed(app, question));
      // A connection of a probe closes after its answer.
      await expect.poll(() => upstream.open).toBe(1);
      const answered = await askTimed(app, question);
      if (question === FINGERPRINT) expectError(answered, 'UPSTREAM_UNAVAILABLE');
      else expectData(answered, 'validateCaptcha', NO_ANSWER);
      // A connection of a probe counts until its first bytes.
      await expect.poll(() => upstream).toMatchObject({ requests: 2, spokenTo: 1, connections: 1 });
    },
  );

  // This is unusual, but HTTP allows it.
  test.each<[string, Behaviour]>([
    ['interim responses before the answer', afterInterim(good(question))],
    [
      'an answer of one-byte chunks',
      bytes(
        `${head(200, { 'transfer-encoding': 'chunked' })}${question.good.padEnd(3_000).replace(/./g, '1\r\n$&\r\n')}0\r\n\r\n`,
      ),
    ],
    ['a body that ends with the connection', thenClose(bytes(head(200, { connection: 'close' }) + question.good))],
    ['no content type', answer(200, question.good, { 'content-type': '' })],
    ['a body of exactly 256 KiB', answer(200, question.good.padEnd(256 * 1024))],
  ])('an answer is understood although it is unusual: %s', async (_name, behave) => {
    const { app } = await start(behave);
    for (let call = 1; call <= 2; call += 1) expectGood(question, await askTimed(app, question));
  });
});

const LONG = { 'content-length': '9999' };
const FAILED_REQUEST = 'proceeds only under the policy `always` (7.3)';
const UNREADABLE = 'proceeds under no policy';
test.concurrent.for<[string, string, Behaviour]>([
  ['ends within its status', FAILED_REQUEST, thenReset(bytes('HTTP/1.1 2'))],
  ['ends within its head', FAILED_REQUEST, thenClose(bytes('HTTP/1.1 200 OK\r\ncontent-'))],
  ['ends within its body', UNREADABLE, thenClose(answer(200, JSON.stringify(FAIL), LONG))],
  ['is reset before its body', UNREADABLE, thenReset(bytes(head(200, LONG)))],
  ['has a second `100 Continue`', FAILED_REQUEST, bytes(CONTINUE + CONTINUE)],
  ['has a bad header', FAILED_REQUEST, bytes('HTTP/1.1 200 OK\r\nno header\r\n\r\n')],
  ['is too long', UNREADABLE, answer(200, ' '.repeat(300_000))],
  ['switches protocols', FAILED_REQUEST, bytes('HTTP/1.1 101 \r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n')],
  ['is no HTTP', FAILED_REQUEST, bytes('SSH-2.0-OpenSSH\r\n')],
])('an answer about a captcha that %s %s, and is no outage', UNLESS_LATE, async ([, effect, behave], context) => {
  const { upstream, app } = await startBoth(context, good(CAPTCHA), 1_000, { captchaFailOpen: 'always', ...CHECKED });
  let probes = 0;
  upstream.behave(behave, (exchange) => {
    probes += Number(exchange.request.includes(FIRST));
    behave(exchange);
  });
  const outcomes: Outcome[] = [];
  // The first two have ended by then. A lag of our own is no outcome.
  for (; probes < 4 || outcomes.length === 0; await pause(100)) {
    const outcome = await verify(app);
    if (outcome.code !== 'OVERLOADED') outcomes.push(outcome);
  }
  expect(proceeded(outcomes)).toBe(effect === UNREADABLE ? 0 : outcomes.length);
  expect(app.logged().includes('"health":"outage"')).toBe(false);
});

test.concurrent.for<[string, Behaviour]>([
  ['its head', bytes('HTTP/1.1 200 OK\r\ncontent-')],
  ['its body', bytes(head(200, LONG))],
])('a captcha service that hangs within %s is down, and people go on', UNLESS_LATE, async ([, behave], context) => {
  const { upstream, app } = await startBoth(context, good(CAPTCHA), 1_000, CHECKED);
  expect(await verify(app)).toMatchObject({ __typename: 'CaptchaPassed' });
  upstream.fail(behave);
  expect(await untilProceeding(app)).toBeLessThan(10_000);
});

test('interim responses to calls and probes alike hide no rejection', async (context) => {
  const { upstream, app } = await startBoth(context, good(CAPTCHA), 10_000, CHECKED);
  upstream.fail(afterInterim(answer(200, JSON.stringify(FAIL))));
  for (let call = 1; call <= 5; call += 1) expect(await verify(app)).toMatchObject({ __typename: 'CaptchaFailed' });
});
