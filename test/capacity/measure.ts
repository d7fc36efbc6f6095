import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Child, Children } from '../bench/children.ts';
import { cpuTimeOf } from '../bench/cpu.ts';
import type { LoadJob, LoadResult, Stream } from '../soak/load-job.ts';
import { capacityFor, coresFor, mostOf, PLANNED } from './capacity.ts';
import { type Replica, startReplica } from './replica.ts';

/** How long each part takes, in ms, and the limit of the replica. */
export interface Size {
  readonly main: string;
  readonly maxInFlight: number;
  readonly warmUpMs: number;
  readonly settleMs: number;
  readonly windowMs: number;
  /** Between two looks at the metrics, which cost the replica CPU time as well. */
  readonly sampleMs: number;
}

/** A value of the function beside what was measured. */
export interface Comparison {
  readonly what: string;
  readonly computed: number;
  readonly measured: number;
}

/** What one latency showed. */
export interface Point {
  readonly latencyMs: number;
  /** At the planned part of the limit. */
  readonly requestsPerSecond: number;
  /** Of a call, as the replica measured it, in ms. */
  readonly measuredLatencyMs: number;
  readonly cpuMicros: number;
  /** How long the replica was ready to run without a core, as a part of the time. */
  readonly waited: number;
  /** Part of the requests that were refused when a third more came than the limit lets through. */
  readonly refused: number;
  readonly comparisons: readonly Comparison[];
}

/** By how much of the limit the second load exceeds it. */
const BEYOND = 1.3;

/** Puts load on one replica: first the planned part of its limit, then more than it lets through. */
export async function measure(children: Children, folder: string, latencyMs: number, size: Size): Promise<Point> {
  const certificateFile = join(folder, `certificate-${latencyMs}.pem`);
  const command = ['test/capacity/upstream.ts', String(latencyMs), certificateFile];
  const upstreamUrl = await children.start('others', command).url;
  const generator = children.start('others', ['test/soak/load.ts'], { answers: true });
  const { main, maxInFlight } = size;
  const logFile = join(folder, `log-${latencyMs}.json`);
  const replica = await startReplica({ main, upstreamUrl, certificateFile, logFile, maxInFlight });
  try {
    const load = { latencyMs, callsPerRequest: 1 };
    const limits = { ...PLANNED, maxInFlight };
    const limit = mostOf(1, load, limits).byCalls;
    // Lets V8 optimise, with calls that are answered at once.
    await generator.ask([{ url: replica.url, question: 'NA', ms: size.warmUpMs, connections: 16 }]);
    // Opens the sockets little by little: a handshake costs more CPU time than a request.
    for (const part of [0.1, 0.3]) await run(replica, generator, limit * part, { ...size, windowMs: size.settleMs });
    const planned = await run(replica, generator, limit * limits.inFlightShare, size);
    const beyond = await run(replica, generator, limit * BEYOND, size);

    const computed = capacityFor({ ...load, requestsPerSecond: planned.rate, latencyMs: planned.latencyMs }, limits);
    return {
      latencyMs,
      requestsPerSecond: planned.rate,
      measuredLatencyMs: planned.latencyMs,
      cpuMicros: planned.cpuMicros,
      waited: planned.waited,
      refused: beyond.refused,
      comparisons: [
        { what: 'calls in flight', computed: computed.callsInFlight, measured: planned.inFlight },
        {
          what: 'CPU, cores',
          computed: coresFor(planned.rate, 1, limits),
          measured: (planned.rate * planned.cpuMicros) / 1e6,
        },
        { what: 'log, bytes a request', computed: limits.logBytes, measured: planned.logBytes },
        {
          what: 'most requests a second',
          computed: mostOf(1, { ...load, latencyMs: beyond.latencyMs }, limits).byCalls,
          measured: beyond.rate,
        },
        { what: 'sockets at the limit', computed: maxInFlight, measured: beyond.sockets },
      ],
    };
  } finally {
    await replica.end();
    await children.endAll();
  }
}

/** One load, of which the part after its first moments is measured. */
async function run(
  replica: Replica,
  generator: Child,
  rate: number,
  { settleMs, windowMs, sampleMs, maxInFlight }: Size,
) {
  // It has to last as long as it is measured, and somewhat longer.
  const ms = settleMs + windowMs + 500;
  // More than can be under way and in the queue.
  const connections = Math.ceil(maxInFlight * 2.5);
  const stream: Stream = { url: replica.url, question: 'EU', ms, connections, rate };
  const job: LoadJob = [stream];
  const loaded = generator.ask(job);
  // The generator first opens its connections.
  await untilBusy(replica);
  await sleep(settleMs);
  const [before, cpuBefore, began] = [await replica.read(), cpuTimeOf(replica.pid), performance.now()];
  const samples = [];
  while (performance.now() - began < windowMs - sampleMs) {
    await sleep(sampleMs);
    samples.push(await replica.read());
  }
  const [after, cpuAfter, ended] = [await replica.read(), cpuTimeOf(replica.pid), performance.now()];
  // Sound: this is what the load generator answers.
  const [answers = []] = (await loaded) as LoadResult;
  const calls = after.calls - before.calls;
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    rate: (calls * 1_000) / (ended - began),
    latencyMs: ((after.seconds - before.seconds) * 1_000) / calls,
    inFlight: mean(samples.map(({ inFlight }) => inFlight)),
    sockets: mean(samples.map(({ sockets }) => sockets)),
    cpuMicros: (cpuAfter.used - cpuBefore.used) / calls,
    waited: (cpuAfter.waited - cpuBefore.waited) / 1_000 / (ended - began),
    // By lines and not by calls: many lines are written at once, so a short run has more or fewer of them than calls.
    logBytes: replica.logBytesBetween(before, after),
    refused: answers.filter(({ outcome }) => outcome !== 'data').length / answers.length,
  };
}

/** Resolves when the load has begun. */
async function untilBusy(replica: Replica): Promise<void> {
  const { calls } = await replica.read();
  for (let tries = 0; tries < 500; tries += 1) {
    await sleep(20);
    if ((await replica.read()).calls > calls) return;
  }
  throw new Error('expected load, but the generator sent none within 10 s');
}
