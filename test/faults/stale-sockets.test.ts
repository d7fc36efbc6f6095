import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { answer, type Behaviour, type RawRequest, startHostile } from '../support/hostile.ts';
import { ask } from '../support/requests.ts';
import { startAgainst } from './expectations.ts';

/** An upstream that closes idle connections and does not say when. A request that crosses the close is lost. */

const CAPTCHA_CALLS = 30;
const fail = answer(200, JSON.stringify({ status: 'success', result: 'fail', reason: 'expired' }));

async function start(behave: Behaviour) {
  const upstream = await startHostile(behave);
  onTestFinished(upstream.stop);
  const app = await startAgainst(upstream, 5_000);
  onTestFinished(app.stop);
  const input = { lotNumber: 'lot-1', captchaOutput: 'o', passToken: 'p', genTime: '1' };
  const askForVerdicts = async () => {
    const answers = await Promise.all(
      Array.from({ length: CAPTCHA_CALLS }, () => ask(app.graphqlUrl, CAPTCHA_MUTATION, { input })),
    );
    return answers.map(({ data, errors }) => data.validateCaptcha?.__typename ?? errors?.[0]?.extensions.code);
  };
  return { upstream, askForVerdicts };
}

const all = (outcome: string) => Array(CAPTCHA_CALLS).fill(outcome);

/**
 * Answers each request, and resets what arrives on a connection that was idle for this long, as if it was just being
 * closed. The first calls are answered together, so that each has a connection of its own.
 */
function closingAfter(idleMs: number): Behaviour {
  const answeredAt = new WeakMap<Socket, number>();
  const held: RawRequest[] = [];
  const respond = (exchange: RawRequest) => {
    answeredAt.set(exchange.socket, performance.now());
    fail(exchange);
  };
  return (exchange) => {
    const { socket, nth } = exchange;
    const idleSince = answeredAt.get(socket);
    if (idleSince !== undefined && performance.now() - idleSince >= idleMs) socket.resetAndDestroy();
    else if (nth > CAPTCHA_CALLS) respond(exchange);
    else if (held.push(exchange) === CAPTCHA_CALLS) held.forEach(respond);
  };
}

test.each([1_200, 2_000])(
  'captchas sent when the upstream closes what was idle for %i ms get their verdict',
  async (ms) => {
    const { upstream, askForVerdicts } = await start(closingAfter(ms));
    expect(await askForVerdicts()).toEqual(all('CaptchaFailed'));
    expect(upstream.connections).toBe(CAPTCHA_CALLS);
    await sleep(ms);
    expect(await askForVerdicts()).toEqual(all('CaptchaFailed'));
    expect(upstream.requests).toBe(2 * CAPTCHA_CALLS);
  },
  15_000,
);

test('captchas on sockets that were closed even sooner do not proceed, and the next ones get their verdict', async () => {
  const { askForVerdicts } = await start(closingAfter(100));
  expect(await askForVerdicts()).toEqual(all('CaptchaFailed'));
  await sleep(150);
  const outcomes = await askForVerdicts();
  expect(new Set(outcomes)).toContain('OVERLOADED');
  expect(new Set([...outcomes, 'CaptchaFailed', 'OVERLOADED'])).toEqual(new Set(['CaptchaFailed', 'OVERLOADED']));
  expect(await askForVerdicts()).toEqual(all('CaptchaFailed'));
}, 15_000);
