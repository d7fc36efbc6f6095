import { setTimeout as sleep } from 'node:timers/promises';
import { cpuTimeOf, memoryOf } from '../bench/cpu.ts';
import { percentile } from '../bench/statistics.ts';
import type { BotJob, BotResult, PeopleJob } from './bot-job.ts';
import { atMost, type Finding, type Scenario, shown } from './findings.ts';
import { DEFAULT_ID, DELETED_ID, PAUSED_ID } from './firewall.ts';
import type { Visit } from './people.ts';
import { describeCounts, describeEach, isUnverified } from './samples.ts';
import { type Server, textAt } from './testbed.ts';
import { type Behaviour, epochMs } from './upstream-commands.ts';

/** A bot that tries every attack at random beside people, while the services are well but noisy. A real outage ends it. */

const BOT_RATE = 100;
const PEOPLE_RATE = 10;
/** How long a look-up takes, in ms. */
const LOOKUP_MS = 20;
const BEHAVIOUR: Behaviour = { mode: 'good', latencyMs: 20, spread: 0.5, idleMs: 2_000, isStrict: true };
/** How long the bot makes the service throttle everybody, in ms, and how long that may last afterwards. */
const THROTTLE_MS = 10_000;
const AFTER_THROTTLE_MS = 5_000;
const OUTAGE_MS = 20_000;
const AFTER_OUTAGE_MS = 8_000;
/** From the beginning of an outage until everybody may proceed, and from its end until nobody may. */
const CONFIRMED_MS = 3_000;
const OVER_MS = 2_000;
const ASK_EVERY_MS = 250;
const MOST_LINES = 100;
const READY_MS = 1_000;
/** Memory of the container in `deploy/kubernetes`, half of which is the heap, in MiB. */
const CONTAINER_MIB = 512;

export const bot: Scenario = async (field, size) => {
  await field.behave('captcha-EU', BEHAVIOUR);
  for (const region of ['EU', 'NA', 'GLB'] as const) await field.behave(`fingerprint-${region}`, BEHAVIOUR);
  const captchas = [DEFAULT_ID, DELETED_ID, PAUSED_ID].map((captchaId) => ({
    captchaId,
    captchaKey: 'key_soak',
    region: 'EU',
  }));
  const server = await field.serveControlled(
    { CAPTCHA_CONFIGURATIONS: JSON.stringify(captchas) },
    { lookupMs: LOOKUP_MS, clockMs: 0 },
    [`--max-old-space-size=${CONTAINER_MIB / 2}`],
  );
  const calm = size.bot;
  const throttle = { from: calm, to: calm + THROTTLE_MS };
  const noiseMs = throttle.to + AFTER_THROTTLE_MS;
  const ms = noiseMs + OUTAGE_MS + AFTER_OUTAGE_MS;
  const botJob: BotJob = { url: server.url, noise: field.addresses.noise, rate: BOT_RATE, ms, noiseMs, throttle };
  const peopleJob: PeopleJob = { url: server.url, rate: PEOPLE_RATE, ms };

  const start = epochMs();
  const watch = watchServer(server, ms);
  // Sound, both: this is what these processes answer.
  const botDone = field.ask('test/soak/bot-process.ts', botJob) as Promise<BotResult>;
  const peopleDone = field.ask('test/soak/people-process.ts', peopleJob) as Promise<readonly Visit[]>;
  await sleep(noiseMs + 1_000);
  const outageMetric = (await server.metrics()).get(OUTAGES) ?? 0;
  const from = await field.behave('captcha-EU', { ...BEHAVIOUR, mode: 'refused' });
  await sleep(OUTAGE_MS);
  const to = await field.behave('captcha-EU', BEHAVIOUR);
  const [attacked, visits, watched] = await Promise.all([botDone, peopleDone, watch]);
  const throttled = { from: start + throttle.from, to: start + noiseMs };
  return [
    ...whileWell(attacked, visits, { throttled, from, outageMetric }),
    ...inOutage(attacked, visits, from, to),
    ...watched,
  ];
};

const OUTAGES = `device_trust_upstream_outages_total{service="captcha",region="EU",account="${DEFAULT_ID}"}`;

interface Well {
  readonly throttled: { readonly from: number; readonly to: number };
  /** When the outage begins. */
  readonly from: number;
  /** How many outages the server has confirmed until then. */
  readonly outageMetric: number;
}

function whileWell(attacked: BotResult, visits: readonly Visit[], { throttled, from, outageMetric }: Well): Finding[] {
  const early = attacked.proceeded.filter(([, answeredAt]) => answeredAt < from);
  const sent = Object.values(attacked.sent).reduce((sum, count) => sum + count, 0);
  const outcomes = describeCounts(Object.entries(attacked.outcomes));
  // A repetition counts to the time at which it was sent.
  const isThrottled = ({ at, answeredAt }: Visit) => answeredAt >= throttled.from && at < throttled.to;
  const isLost = ({ outcome }: Visit) => outcome !== 'data';
  // Those that the outage may have met are judged below.
  const calm = visits.filter((visit) => visit.answeredAt < from && !isThrottled(visit));
  // The server's log says what happened at these times.
  for (const lost of calm.filter(isLost).slice(0, MOST_LINES)) process.stderr.write(`${JSON.stringify(lost)}\n`);
  const inThrottle = visits.filter(isThrottled);
  const retried = calm.filter(({ first }) => first !== '');
  const unverified = visits.filter((visit) => visit.answeredAt < from && isUnverified(visit));
  return [
    atMost(
      'bot: its captchas that proceed while the service is well',
      0,
      early.length,
      '',
      describeEach(early.map(([, , attack]) => attack)),
    ),
    atMost(
      'bot: outages that it makes the server confirm',
      0,
      outageMetric,
      '',
      `${sent} requests and connections, ${attacked.noises} noises, ${attacked.skipped} skipped: ${outcomes}`,
    ),
    atMost(
      'bot: people who proceed without a verdict while the service is well',
      0,
      unverified.length,
      '',
      `of ${visits.length}`,
    ),
    atMost(
      'bot: requests of people without their verdict, with one repetition where the answer asks for it',
      0,
      calm.filter(isLost).length,
      '',
      `of ${calm.length}, ${retried.length} repeated after ${describeEach(retried.map(({ first }) => first))}; lost: ${describeEach(calm.filter(isLost).map(({ first, outcome, question }) => `${question} ${first} ${outcome}`))}`,
    ),
    atMost(
      'bot that gets 429 for everybody: requests of people without their verdict',
      0,
      inThrottle.filter(isLost).length,
      '',
      `of ${inThrottle.length}: ${describeEach(inThrottle.filter(isLost).map(({ outcome, question }) => `${question} ${outcome}`))}`,
    ),
  ];
}

function inOutage(attacked: BotResult, visits: readonly Visit[], from: number, to: number): Finding[] {
  const captchas = visits.filter(({ question }) => question === 'captcha');
  const unverified = captchas.filter((visit) => visit.answeredAt >= from && isUnverified(visit));
  const due = captchas.filter(({ at }) => at >= from + CONFIRMED_MS && at < to);
  const kept = due.filter(({ proceeds }) => !proceeds);
  const times = unverified.map(({ answeredAt }) => answeredAt);
  const botTimes = attacked.proceeded.map(([, answeredAt]) => answeredAt).filter((at) => at >= from);
  const late = [...times, ...botTimes].filter((at) => at > to + OVER_MS);
  return [
    atMost(
      'bot, outage: people who do not proceed from 3 s on',
      0,
      kept.length,
      '',
      `of ${due.length}; the first one proceeded after ${shown((Math.min(...times) - from) / 1_000)} s; ${describeEach(kept.map(({ outcome }) => outcome))}`,
    ),
    atMost(
      'bot, outage: anybody who proceeds without a verdict from 2 s after its end on',
      0,
      late.length,
      '',
      `the last one ${shown((Math.max(...times, ...botTimes) - to) / 1_000)} s after it; ${botTimes.length} of the bot in the outage`,
    ),
  ];
}

/** Asks for /readyz as an orchestrator does, and looks at the memory. */
async function watchServer({ admin, pid }: Server, ms: number): Promise<Finding[]> {
  const waits: number[] = [];
  const resident: number[] = [];
  const before = cpuTimeOf(pid);
  for (const start = performance.now(); performance.now() - start < ms; await sleep(ASK_EVERY_MS)) {
    const asked = performance.now();
    const text = await textAt(`${admin}/readyz`).catch(() => 'none');
    waits.push(text === 'ready\n' ? performance.now() - asked : 60_000);
    resident.push(memoryOf(pid).rss);
  }
  const after = cpuTimeOf(pid);
  const seconds = (key: 'used' | 'waited') => shown((after[key] - before[key]) / 1e6);
  // A server that waits for a core is late for a reason of this machine.
  const cpu = `its threads used ${seconds('used')} s of CPU and waited ${seconds('waited')} s for a core in ${shown(ms / 1_000)} s`;
  const third = Math.floor(resident.length / 3);
  const most = (part: readonly number[]) => shown(Math.max(...part));
  const thirds = [resident.slice(0, third), resident.slice(third, 2 * third), resident.slice(2 * third)];
  return [
    atMost(
      'bot: slowest answer of /readyz on the admin port',
      READY_MS,
      Math.max(...waits),
      ' ms',
      `p50 ${shown(percentile(waits, 50))} ms, p99 ${shown(percentile(waits, 99))} ms of ${waits.length}; ${cpu}`,
    ),
    atMost(
      'bot: resident memory at its highest',
      CONTAINER_MIB,
      memoryOf(pid).peak ?? Number.NaN,
      ' MiB',
      `in thirds of the time ${thirds.map(most).join(', ')} MiB`,
    ),
  ];
}
