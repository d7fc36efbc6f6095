import { setTimeout as sleep } from 'node:timers/promises';
import { atLeast, atMost, type Scenario, shown } from './findings.ts';
import { goodputOf, IN_FLIGHT, LATENCY_MS, QUEUE, SPREAD } from './overload.ts';
import { describeOutcomes, goodput, isGood, p99, type Sample } from './samples.ts';
import { type Server, textAt } from './testbed.ts';
import { epochMs } from './upstream-commands.ts';

/** More work than the core can do: the event loop itself falls behind. */

const FEW = 4;
const CONNECTIONS = 512;
/** Times what the core can do. */
const TIMES = 3;
const ASK_EVERY_MS = 100;
/** From the end of the overload until goodput has to be back, in ms. */
const BACK_MS = 2_000;
/** How long an orchestrator usually waits. */
const HEALTH_MS = 1_000;
const RETRY_AFTER_MS = 1_000;

export const eventLoop: Scenario = async (field, size) => {
  await field.behave('fingerprint-EU', { mode: 'good', latencyMs: LATENCY_MS, spread: SPREAD });
  const env = { UPSTREAM_MAX_IN_FLIGHT: String(IN_FLIGHT), UPSTREAM_MAX_QUEUE: String(QUEUE) };
  const server = await field.serve(env);
  const { url } = server;
  const calm = (ms: number) =>
    field.load({ all: { url, question: 'EU', ms, connections: IN_FLIGHT + QUEUE } }).then(({ all }) => all);
  await calm(size.warmUp);
  const most = goodputOf(await calm(size.calm), size.calm);

  const heavy = { url, question: 'heavy', connections: FEW } as const;
  await field.load({ all: { ...heavy, ms: size.warmUp } });
  const rate = TIMES * goodputOf((await field.load({ all: { ...heavy, ms: size.calm } })).all, size.calm);

  // What is read of the event loop is since the last look.
  await server.metrics();
  const health = watchHealth(server, size.cpuOverload);
  const { all } = await field.load({ all: { ...heavy, ms: size.cpuOverload, connections: CONNECTIONS, rate } });
  const end = epochMs();
  const lateMs = ((await server.metrics()).get('nodejs_eventloop_lag_p99_seconds') ?? Number.NaN) * 1_000;
  const after = goodput(await calm(BACK_MS + size.calm + 300), end + BACK_MS, size.calm);

  const refused = all.filter((sample) => !isGood(sample));
  const proper = refused.filter(
    ({ status, outcome, retryAfter }) => status === 503 && outcome === 'OVERLOADED' && retryAfter,
  );
  const served = all.filter(isGood);
  const waits = `p99 of ${shown(p99(served))} ms with data, ${shown(p99(proper))} ms with a 503`;
  return [
    atMost(
      'CPU overload: neither data nor a 503 with Retry-After',
      0,
      refused.length - proper.length,
      '',
      `${shown(rate)}/s: ${describeOutcomes(all)}; ${waits}; the loop was late by ${shown(lateMs)} ms at p99`,
    ),
    // Within the second after which it says to come again.
    ...(proper.length > 0 ? [atMost('CPU overload: p99 of a 503', RETRY_AFTER_MS, p99(proper), ' ms')] : []),
    atMost('CPU overload: p99 of /healthz', HEALTH_MS, p99(await health), ' ms'),
    atLeast('CPU overload: goodput from 2 s after it to its peak', 0.9, after / most, '', `peak ${shown(most)}/s`),
  ];
};

/** Asks for /healthz as an orchestrator does, on a connection of its own each time. What is not `alive` counts as 1 minute. */
async function watchHealth({ origin }: Server, ms: number): Promise<Pick<Sample, 'ms'>[]> {
  const seen: Pick<Sample, 'ms'>[] = [];
  for (const start = performance.now(); performance.now() - start < ms; await sleep(ASK_EVERY_MS)) {
    const asked = performance.now();
    const text = await textAt(`${origin}/healthz`).catch(() => 'none');
    seen.push({ ms: text === 'alive\n' ? performance.now() - asked : 60_000 });
  }
  return seen;
}
