import { setTimeout as sleep } from 'node:timers/promises';
import { judgeOutage, OVER_MS } from './corroboration.ts';
import { atMost, type Scenario } from './findings.ts';
import { describeOutcomes, isUnverified } from './samples.ts';
import type { Behaviour } from './upstream-commands.ts';

/** The wall clock steps, forth and back, while the captcha service is well and in the middle of an outage. */

const STRICT: Behaviour = { mode: 'good', latencyMs: 20, isStrict: true };
const RATE = 20;
const CONNECTIONS = 128;
/** How wrong the clock is, in ms, one after the other. */
const STEPS = [3_600_000, -20_000, -3_600_000, 20_000];
const EACH_MS = 500;
/** In ms: the clock steps in the middle of an outage. */
const STEP_BACK = -20_000;

export const clock: Scenario = async (field, size) => {
  await field.behave('captcha-EU', STRICT);
  const server = await field.serveControlled();
  const step = (clockMs: number) => server.control({ lookupMs: 0, clockMs });
  const ms = size.calm + (STEPS.length + 1) * EACH_MS + size.confirmed + OVER_MS + size.calm;
  const stream = { url: server.url, ms, connections: CONNECTIONS, rate: RATE };
  const load = field.load({ people: { ...stream, question: 'captcha' }, bot: { ...stream, question: 'bogus' } });
  await sleep(size.calm);
  for (const clockMs of STEPS) {
    await step(clockMs);
    await sleep(EACH_MS);
  }
  await step(0);
  await sleep(EACH_MS);
  const from = await field.behave('captcha-EU', { ...STRICT, mode: '503' });
  await sleep(size.confirmed / 2);
  await step(STEP_BACK);
  await sleep(size.confirmed / 2);
  const to = await field.behave('captcha-EU', STRICT);
  const { people, bot } = await load;
  const bogus = bot.filter(
    (sample) => isUnverified(sample) && (sample.at + sample.ms < from || sample.at > to + OVER_MS),
  );
  return [
    atMost(
      'clock steps: bogus captchas that proceed while the service is well',
      0,
      bogus.length,
      '',
      describeOutcomes(bot),
    ),
    ...judgeOutage('clock steps in an outage', people, { from, to }, OVER_MS),
  ];
};
