import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { json, request } from '../support/requests.ts';
import type { Collector } from './collector.ts';
import { cpuTimeOf, memoryOf } from './cpu.ts';

/** What one request costs a server that has nothing else to do. */
export interface RequestCost {
  readonly cpuMs: number;
  /** By how much resident memory was higher at its highest than before, in MiB. */
  readonly mebibytes: number;
  /** The slowest answer of /healthz meanwhile, in ms. */
  readonly healthMs: number;
}

export interface Target {
  readonly pid: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly healthUrl: string;
  /** Leaves nothing of the request before. */
  readonly collector: Collector;
}

const ASK_EVERY_MS = 5;

/** Sends a request while it asks for health, and gives what came back as well. */
export async function costOfRequest(
  { pid, url, headers, healthUrl, collector }: Target,
  body: string,
): Promise<{ cost: RequestCost; status: number; text: string }> {
  await collector.collect();
  resetPeak(pid);
  const { rss } = memoryOf(pid);
  const before = cpuTimeOf(pid).used;
  let healthMs = 0;
  let isOver = false;
  const health = async () => {
    while (!isOver) {
      const asked = performance.now();
      await request(healthUrl);
      healthMs = Math.max(healthMs, performance.now() - asked);
      await sleep(ASK_EVERY_MS);
    }
  };
  const watch = health();
  const { status, text } = await request(url, json(body, headers));
  const cpuMs = (cpuTimeOf(pid).used - before) / 1_000;
  const { peak = Number.NaN } = memoryOf(pid);
  isOver = true;
  await watch;
  return { cost: { cpuMs, mebibytes: peak - rss, healthMs }, status, text };
}

/** The least of several attempts in each respect, because other load on the machine only adds. */
export function leastOf(costs: readonly RequestCost[]): RequestCost {
  const least = (key: keyof RequestCost) => Math.min(...costs.map((cost) => cost[key]));
  return { cpuMs: least('cpuMs'), mebibytes: least('mebibytes'), healthMs: least('healthMs') };
}

/** From here on the peak of a process's memory counts anew (proc(5)); elsewhere than on Linux there is none. */
function resetPeak(pid: number): void {
  if (process.platform === 'linux') writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
