import { setTimeout as sleep } from 'node:timers/promises';
import { atLeast, atMost, type Scenario, shown } from './findings.ts';
import { describeOutcomes, dueWithin, goodPart, isUnverified } from './samples.ts';
import type { Behaviour } from './upstream-commands.ts';

/** The captcha service answers 429 to everything, probes included, and says when to come again. */

const RATE = 50;
const CONNECTIONS = 64;
const WELL: Behaviour = { mode: 'good', latencyMs: 20 };
const RETRY_AFTER_S = 2;
const THROTTLED_MS = 4_000;
/** Calls that may be under way when the first 429 comes. */
const UNDER_WAY = 5;
const BACK_MS = 500;

export const throttling: Scenario = async (field, size) => {
  const server = await field.serve();
  const ms = size.calm + THROTTLED_MS + RETRY_AFTER_S * 1_000 + BACK_MS + size.calm;
  const stream = { url: server.url, question: 'captcha', ms, connections: CONNECTIONS, rate: RATE } as const;
  const load = field.load({ captcha: stream });
  await sleep(size.calm);
  const from = await field.behave('captcha-EU', { ...WELL, mode: '429', retryAfter: RETRY_AFTER_S });
  await sleep(THROTTLED_MS);
  const to = await field.behave('captcha-EU', WELL);
  const { captcha } = await load;
  const { calls } = await field.calls('captcha-EU');
  const sent = calls.filter(([at]) => at >= from && at < to).length;
  const pauses = Math.ceil(THROTTLED_MS / (RETRY_AFTER_S * 1_000));
  const back = to + RETRY_AFTER_S * 1_000 + BACK_MS;
  const after = dueWithin(captcha, back, ms);
  return [
    atMost(
      '429: captchas that proceed without a verdict',
      0,
      captcha.filter(isUnverified).length,
      '',
      describeOutcomes(captcha),
    ),
    atMost(
      '429: calls that reach the service',
      pauses * UNDER_WAY,
      sent,
      '',
      `${shown((RATE * THROTTLED_MS) / 1_000)} requests, Retry-After ${RETRY_AFTER_S} s`,
    ),
    atLeast(
      '429: verdicts from the end of the last pause on',
      100,
      goodPart(after) * 100,
      ' %',
      describeOutcomes(after),
    ),
  ];
};
