import { Pool } from 'undici';
import { cpuTimeOf } from './cpu.ts';
import { dispatchPost } from './dispatch.ts';
import type { LoadJob, LoadResult } from './load-job.ts';
import { closedLoop, openLoop } from './loops.ts';
import { percentile } from './statistics.ts';
import { workloadNamed } from './workloads.ts';

/** The load generator, a process of its own: takes a job as a message and sends back what it saw. */

/** Number of the last request; none is used twice. Those below are for checks. */
let next = 1_000_000;

async function run({ url, headers, workload, answerBytes, connections, pid, warmUpMs, ms, rate }: LoadJob) {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const { body, status: wanted = 200 } = workloadNamed(workload);
  const send = async () => {
    next += 1;
    const { status, bytes, body: read } = await dispatchPost(pool, path, headers, body(next));
    if (status === wanted && (answerBytes === undefined || bytes === answerBytes)) return;
    throw new Error(
      `expected ${wanted} with ${answerBytes} bytes, but got ${status} with ${read().toString().slice(0, 500)}`,
    );
  };
  const loop = (duration: number) =>
    rate === undefined ? closedLoop(send, connections, duration) : openLoop(send, rate, duration);
  try {
    await loop(warmUpMs);
    // Every request that costs something is counted: none is under way at either reading.
    const before = cpuTimeOf(pid);
    const { latencies, seconds } = await loop(ms);
    const after = cpuTimeOf(pid);
    return {
      requests: latencies.length,
      seconds,
      cpuMicros: after.used - before.used,
      waitedMicros: after.waited - before.waited,
      p50: percentile(latencies, 50),
      p99: percentile(latencies, 99),
    };
  } finally {
    await pool.destroy();
  }
}

process.on('message', (job: LoadJob) => {
  const answer = (result: LoadResult) => process.send?.(result);
  run(job).then(answer, (error: Error) => answer({ failure: error.message }));
});
// Without the parent process there is nothing to do.
process.once('disconnect', () => process.exit());
