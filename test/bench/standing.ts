import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Contender } from './contenders.ts';
import { costOf, requestsSent } from './load.ts';
import { FLAGS } from './measure.ts';
import { type Child, cpuMicrosOf, start, wakeUpsOf } from './processes.ts';
import type { Workload } from './requests.ts';

/** What paired rounds do not show: the bytes that a request allocates, and the cost of a process without requests. */

const [WARM_UP_MS, MEASURED_MS] = [1_500, 1_000];
/** After the load, sockets and timers of calls end by themselves. */
const SETTLE_MS = 5_000;
const IDLE_MS = 10_000;

/** One table in Markdown. Each contender is started once. */
export async function standingTable(
  contenders: readonly Contender[],
  workloads: readonly Workload[],
  core: readonly string[],
) {
  const head = ['bytes of a request, and an idle process', ...workloads.map(({ title }) => `${title}, KiB`)];
  const rows: string[][] = [];
  for (const { title, script, env } of contenders) {
    const hook = ['--import', join(import.meta.dirname, 'allocations.ts')];
    const server = await start([...FLAGS, ...hook, script], env, core);
    const bytes: string[] = [];
    for (const workload of workloads) bytes.push(((await bytesOf(server, workload)) / 1_024).toFixed(0));
    await setTimeout(SETTLE_MS);
    const [cpu, wakeUps] = [cpuMicrosOf(server.pid), wakeUpsOf(server.pid)];
    await setTimeout(IDLE_MS);
    const perSecond = (value: number) => (value / (IDLE_MS / 1_000)).toFixed(1);
    const idle = [perSecond((cpuMicrosOf(server.pid) - cpu) / 1_000), perSecond(wakeUpsOf(server.pid) - wakeUps)];
    rows.push([title, ...bytes, ...idle]);
    await server.end();
  }
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const columns = [...head, 'idle, ms of CPU a second', 'wake-ups a second'];
  return [line(columns), `|${'---|'.repeat(columns.length)}`, ...rows.map(line)].join('\n');
}

async function bytesOf(server: Child, workload: Workload): Promise<number> {
  await costOf(server, workload, 0, WARM_UP_MS);
  const [before, sent] = [await allocatedBy(server), requestsSent()];
  await costOf(server, workload, 0, MEASURED_MS);
  return ((await allocatedBy(server)) - before) / (requestsSent() - sent);
}

async function allocatedBy({ process: child }: Child): Promise<number> {
  const answer = once(child, 'message');
  child.send('allocated');
  return Number((await answer)[0]);
}
