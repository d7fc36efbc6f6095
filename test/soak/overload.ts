import { percentile } from '../bench/statistics.ts';
import { adds, atLeast, atMost, type Finding, type Scenario, shown } from './findings.ts';
import type { QuestionName } from './questions.ts';
import { describeOutcomes, goodput, isGood, p99, type Sample } from './samples.ts';
import type { Sizes } from './sizes.ts';
import type { SoakTestbed } from './testbed.ts';
import type { Endpoint } from './upstream-commands.ts';

/** Ten times as many requests as the upstream has capacity for. */

/** A capacity of 40 calls a second, so that ten times as much is still far below what a core can refuse. */
export const IN_FLIGHT = 4;
export const QUEUE = 2;
export const LATENCY_MS = 100;
/** Latencies vary, as those of a real service do. Otherwise all calls would end together, and each queued call would wait for a whole one. */
export const SPREAD = 0.4;
const TIMES = 10;

/** More connections than requests that are under way at any time. */
const CONNECTIONS = 128;

export const overloadFingerprint: Scenario = async (testbed, size) =>
  (await overload(testbed, size, 'EU', 'fingerprint-EU')).findings;

export const overloadCaptcha: Scenario = async (testbed, size) => {
  const { findings, crowd } = await overload(testbed, size, 'captcha', 'captcha-EU');
  const others = crowd.filter((sample) => !isGood(sample));
  const permitted = others.filter(({ outcome, proceeds }) => proceeds || outcome !== 'OVERLOADED');
  const never = atMost('answers without a verdict that are another thing than OVERLOADED', 0, permitted.length);
  return [...findings, { ...never, measured: `${permitted.length} of ${others.length}` }];
};

async function overload(testbed: SoakTestbed, size: Sizes, question: QuestionName, endpoint: Endpoint) {
  await testbed.behave(endpoint, { mode: 'good', latencyMs: LATENCY_MS, spread: SPREAD });
  const env = { UPSTREAM_MAX_IN_FLIGHT: String(IN_FLIGHT), UPSTREAM_MAX_QUEUE: String(QUEUE) };
  const { url } = await testbed.serve(env);
  const closed = (connections: number, ms: number) => testbed.load({ all: { url, question, ms, connections } });
  await closed(IN_FLIGHT, size.warmUp);
  const most = goodputOf((await closed(IN_FLIGHT + QUEUE, size.calm)).all, size.calm);
  const unloaded = p99((await closed(IN_FLIGHT / 2, size.calm)).all);

  const rate = (TIMES * IN_FLIGHT * 1_000) / LATENCY_MS;
  const stream = { url, question, ms: size.overload, connections: CONNECTIONS, rate };
  const { all: crowd, bare } = await testbed.load({ all: stream, bare: testbed.bare(size.overload) });
  const admitted = crowd.filter(isGood);
  const shed = crowd.filter(({ outcome }) => outcome === 'OVERLOADED');
  const name = `${TIMES}× overload, ${question === 'captcha' ? 'captcha' : 'fingerprint'}`;
  const findings: Finding[] = [
    atLeast(`${name}: goodput to its peak`, 0.9, goodputOf(crowd, size.overload) / most, '', `peak ${shown(most)}/s`),
    atMost(`${name}: p99 of those served to unloaded`, 2, p99(admitted) / unloaded, '×', `${shown(unloaded)} ms`),
    adds(`${name}: p99 of a refusal beyond a bare server’s`, 20, p99(shed), p99(bare), lateness(crowd)),
    atMost(
      `${name}: neither served nor refused`,
      0,
      crowd.length - admitted.length - shed.length,
      '',
      describeOutcomes(crowd),
    ),
  ];
  return { findings, crowd };
}

/** Right answers a second after the first fifth of the time, when the rate has become stable. */
export function goodputOf(samples: readonly Sample[], ms: number): number {
  const start = Math.min(...samples.map(({ at }) => at));
  return goodput(samples, start + ms * 0.2, ms * 0.8);
}

/** Describes how late the load generator itself was, because every latency contains that. */
function lateness(samples: readonly Sample[]): string {
  const late = percentile(
    samples.map((sample) => sample.late),
    99,
  );
  return `${late > 5 ? 'load STARVED' : 'load late'} by ${shown(late)} ms at p99`;
}
