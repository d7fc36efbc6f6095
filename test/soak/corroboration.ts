import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Finding, type Scenario, shown } from './findings.ts';
import { describeOutcomes, isUnverified, type Sample } from './samples.ts';
import type { Behaviour } from './upstream-commands.ts';

/** Who proceeds in an outage of the captcha service, from when to when. Each kind of outage has a server of its own. */

const RATE = 20;
const CONNECTIONS = 256;
const WELL: Behaviour = { mode: 'good', latencyMs: 20 };
/** From the beginning of an outage until everybody may proceed, in ms. */
export const CONFIRMED_MS = 3_000;
/** From its end until nobody may proceed without a verdict, in ms. A probe that hangs is noticed later. */
export const OVER_MS = 2_000;
const OVER_AFTER_HANG_MS = 6_000;

const KINDS = ['refused', 'reset', '503', 'hang'] as const;

export const corroboration: Scenario = async (field, size) => {
  const ms = size.calm + size.confirmed + OVER_AFTER_HANG_MS + size.calm;
  const kinds = await Promise.all(
    KINDS.map(async (mode) => {
      const endpoint = `captcha-${mode}` as const;
      const server = await field.serve({ CAPTCHA_URL_EU: field.addresses[endpoint] });
      return { mode, endpoint, url: server.url };
    }),
  );
  const streams = kinds.map(({ mode, url }) => {
    const stream = { url, question: 'captcha', ms, connections: CONNECTIONS, rate: RATE } as const;
    return [mode, stream] as const;
  });
  const load = field.load(Object.fromEntries(streams));
  await sleep(size.calm);
  const from: number[] = [];
  for (const { mode, endpoint } of kinds) from.push(await field.behave(endpoint, { ...WELL, mode }));
  await sleep(size.confirmed);
  const to: number[] = [];
  for (const { endpoint } of kinds) to.push(await field.behave(endpoint, WELL));
  const seen = await load;
  return kinds.flatMap(({ mode }, at) => {
    const span = { from: from[at] ?? Number.NaN, to: to[at] ?? Number.NaN };
    return judgeOutage(
      `captcha outage (${mode})`,
      seen[mode] ?? [],
      span,
      mode === 'hang' ? OVER_AFTER_HANG_MS : OVER_MS,
    );
  });
};

interface Span {
  /** Beginning and end of the outage, in ms since 1970. */
  readonly from: number;
  readonly to: number;
}

/**
 * What an outage has to look like to people.
 *
 * @param overMs from its end until nobody may proceed without a verdict, in ms
 */
export function judgeOutage(name: string, samples: readonly Sample[], { from, to }: Span, overMs: number): Finding[] {
  const answeredAt = ({ at, ms }: Sample) => at + ms;
  const unverified = samples.filter(isUnverified);
  const early = unverified.filter((sample) => answeredAt(sample) < from);
  const late = unverified.filter((sample) => answeredAt(sample) > to + overMs);
  const due = samples.filter(({ at }) => at >= from + CONFIRMED_MS && at < to);
  const kept = due.filter(({ proceeds }) => !proceeds);
  const times = unverified.map(answeredAt);
  const first = shown((Math.min(...times) - from) / 1_000);
  const last = shown((Math.max(...times) - to) / 1_000);
  return [
    atMost(
      `${name}: people who proceed without a verdict while the service is well`,
      0,
      early.length + late.length,
      '',
      `the last one ${last} s after its end`,
    ),
    atMost(
      `${name}: people who do not proceed from 3 s on`,
      0,
      kept.length,
      '',
      `of ${due.length}, the first one after ${first} s; ${describeOutcomes(kept)}`,
    ),
  ];
}
