import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { atMost, type Scenario } from './findings.ts';
import { type Visit, visit } from './people.ts';
import { describeEach, isUnverified } from './samples.ts';
import { textAt } from './testbed.ts';
import type { Behaviour } from './upstream-commands.ts';

/** The captcha service closes connections that were idle for 2 s, and at other moments all that are idle, without a hint. */

const IDLE_MS = 2_000;
const STRICT: Behaviour = { mode: 'good', latencyMs: 20, isStrict: true, idleMs: IDLE_MS };
const CAPTCHAS = 30;
/** Around the moment at which the service closes what was idle for 2 s, and right after the last answer, in ms. */
const PAUSES = [IDLE_MS - 20, IDLE_MS, IDLE_MS + 20, 0, 5, 10];

export const staleSockets: Scenario = async (field) => {
  await field.behave('captcha-EU', STRICT);
  const server = await field.serve();
  const { origin, pathname } = new URL(server.url);
  const pool = new Pool(origin, { connections: 2 * CAPTCHAS, pipelining: 1 });
  const visits: Visit[] = [];
  const ask = async () => {
    const people = Array.from({ length: CAPTCHAS }, () => visit(pool, pathname, 'captcha'));
    const bot = Array.from({ length: CAPTCHAS }, () => visit(pool, pathname, 'bogus'));
    visits.push(...(await Promise.all([...people, ...bot])));
  };
  try {
    await ask();
    for (const ms of PAUSES) {
      await sleep(ms);
      const closed = ms < IDLE_MS / 2 ? textAt(`${field.addresses.noise}/close-idle`) : undefined;
      await ask();
      await closed;
    }
  } finally {
    await pool.destroy();
  }
  const lost = visits.filter(({ outcome }) => outcome !== 'data');
  const repeated = visits.filter(({ first }) => first !== '');
  return [
    atMost(
      'stale sockets: captchas that proceed without a verdict',
      0,
      visits.filter(isUnverified).length,
      '',
      `of ${visits.length}`,
    ),
    atMost(
      'stale sockets: captchas without a verdict, with one repetition where the answer asks for it',
      0,
      lost.length,
      '',
      `${repeated.length} repeated after ${describeEach(repeated.map(({ first }) => first))}; lost: ${describeEach(lost.map(({ outcome }) => outcome))}`,
    ),
  ];
};
