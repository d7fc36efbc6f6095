import { describe, expect, onTestFinished, test } from 'vitest';
import { answer, type Behaviour, bytes, head, reset, startHostile, thenClose } from '../support/hostile.ts';
import { expectGood, expectOverloaded, SERVICES } from './concurrency.ts';
import { ANDROID, altered } from './documented.ts';
import { askTimed, expectData, FINGERPRINT, startAgainst } from './expectations.ts';
import { expectNothingUnhandled } from './process-watch.ts';

/** What a fault of an upstream, or an unusual behaviour, means for requests after it and at the same time. */

expectNothingUnhandled();

async function start(behave: Behaviour, deadlineMs = 10_000) {
  const upstream = await startHostile(behave);
  onTestFinished(upstream.stop);
  const app = await startAgainst(upstream, deadlineMs);
  onTestFinished(app.stop);
  return { upstream, app };
}

/** The answer about a device of this name. */
const deviceAnswer = (name: string) => answer(200, altered(ANDROID, 'data.fp_detail.device_id', name));
const about = (id: string) => ({ device: { id } });

describe('one answer is never taken for another', () => {
  test('two answers to one request', async () => {
    const { upstream, app } = await start((exchange) => {
      const answers: string[] = [];
      // Written at once, so that both arrive in one piece.
      exchange.socket.cork();
      for (const kind of ['own', 'surplus']) answers.push(`${kind}-${exchange.nth}`);
      for (const name of answers) deviceAnswer(name)(exchange);
      exchange.socket.uncork();
    });
    expectData(await askTimed(app, FINGERPRINT), 'deviceFingerprint', about('own-1'));
    expectData(await askTimed(app, FINGERPRINT), 'deviceFingerprint', about('own-2'));
    expect(upstream.requests).toBe(2);
  });

  test('an answer that comes after the deadline', async () => {
    // So long that a busy machine answers the second request in time.
    const deadline = 1_000;
    const { upstream, app } = await start((exchange) => {
      if (exchange.nth > 1) deviceAnswer('in-time')(exchange);
      else setTimeout(() => deviceAnswer('late')(exchange), deadline + 200);
    }, deadline);
    const { errors } = await askTimed(app, FINGERPRINT);
    // OVERLOADED where the machine kept this process from running meanwhile: either way the deadline has passed.
    expect(errors).toMatchObject([{ extensions: { code: expect.stringMatching(/^(UPSTREAM_TIMEOUT|OVERLOADED)$/) } }]);
    await expect.poll(() => upstream.open).toBe(0);
    expectData(await askTimed(app, FINGERPRINT), 'deviceFingerprint', about('in-time'));
  });
});

describe.each(SERVICES)('%s', (_service, question) => {
  test('an idle connection that the upstream closed is not used again', async () => {
    const { upstream, app } = await start((exchange) => {
      answer(200, question.good)(exchange);
      setTimeout(() => exchange.socket.end(), 50);
    });
    for (let round = 1; round <= 3; round += 1) {
      expectGood(question, await askTimed(app, question));
      await expect.poll(() => upstream.open).toBe(0);
      expect(upstream.requests).toBe(round);
    }
  });

  /** Nobody can know whether the upstream processed the request before the reset, or was just closing the connection. */
  test('an idle connection that the upstream resets at the next request is OVERLOADED, and nothing is sent again', async () => {
    const { upstream, app } = await start((exchange) => {
      if (exchange.nth === 1) answer(200, question.good)(exchange);
      else reset(exchange);
    });
    expectGood(question, await askTimed(app, question));
    expect(upstream.open).toBe(1);
    expectOverloaded(question, await askTimed(app, question));
    expect(upstream).toMatchObject({ requests: 2, spokenTo: 1, connections: 1 });
  });

  test('a connection that works is used again', async () => {
    const { upstream, app } = await start(answer(200, question.good));
    for (let round = 1; round <= 5; round += 1) await askTimed(app, question);
    expect({ requests: upstream.requests, connections: upstream.connections }).toEqual({ requests: 5, connections: 1 });
  });

  // This is unusual, but HTTP allows it.
  test.each<[string, Behaviour]>([
    ['hints before the answer', (exchange) => answer(200, question.good)(send(exchange, 'HTTP/1.1 103 Early\r\n\r\n'))],
    [
      'an answer of one-byte chunks',
      bytes(`${head(200, { 'transfer-encoding': 'chunked' })}${question.good.replace(/./g, '1\r\n$&\r\n')}0\r\n\r\n`),
    ],
    ['a body that ends with the connection', thenClose(bytes(head(200, { connection: 'close' }) + question.good))],
    ['no content type', answer(200, question.good, { 'content-type': '' })],
    ['a body of exactly 256 KiB', answer(200, question.good.padEnd(256 * 1024))],
    ['an encoding called identity', answer(200, question.good, { 'content-encoding': 'identity' })],
  ])('understands %s', async (_name, behave) => {
    const { app } = await start(behave);
    expectGood(question, await askTimed(app, question));
  });
});

/** Sends this first; the exchange itself, to go on with. */
function send<RawRequest extends { socket: { write(text: string): unknown } }>(
  exchange: RawRequest,
  text: string,
): RawRequest {
  exchange.socket.write(text);
  return exchange;
}
