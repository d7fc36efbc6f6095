import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Sample, scrape } from '../observability/exposition.ts';
import { isOfPeople, type Replica, textAt } from './processes.ts';

/** What an operator sees of the replicas. */

const ASK_EVERY_MS = 500;
/** A fault that is seen less often in a row pages nobody: each alert waits for longer. */
const LASTING = 6;

/** Series of `deploy/alerts.yaml` that show a fault by themselves unless they are 0. Every account has an `upstream_health` of 1. */
const SERIES =
  /^device_trust_((?:upstream_outages|lookups_failed|log_lines_dropped)_total|upstream_health|quota_store_away)$/;

function faultsIn(samples: readonly Sample[]): string[] {
  const shown = samples.filter(({ name, value }) => value > 0 && SERIES.test(name));
  if (shown.length === 0) throw new Error('expected the health of accounts');
  const faults = shown.filter(({ labels: { state, account } }) => state !== 'well' && isOfPeople(account));
  return faults.map(({ name, labels }) => [SERIES.exec(name)?.[1], ...Object.values(labels)].join(' '));
}

/** Each fault that lasted, as often as it began. */
export function lasting(history: readonly (readonly string[])[]): string[] {
  return history.flatMap((faults, at) => {
    const next = history.slice(at, at + LASTING);
    return faults.filter((fault) => !history[at - 1]?.includes(fault) && next.every((each) => each.includes(fault)));
  });
}

/** Asks for /readyz as an orchestrator does, for metrics, and for memory as Linux counts it. What is not `ready` counts as a minute. */
export async function watch(replicas: readonly Replica[], ms: number) {
  const seen = { slowestMs: 0, peakMib: 0, faults: [] as string[][] };
  for (const end = performance.now() + ms; performance.now() < end; await sleep(ASK_EVERY_MS)) {
    const faults: string[] = [];
    for (const replica of [...replicas]) {
      const { admin, pid } = replica;
      const asked = performance.now();
      const text = await textAt(`${admin}/readyz`).catch(() => 'none');
      // It stops.
      if (!replicas.includes(replica)) continue;
      seen.slowestMs = Math.max(seen.slowestMs, text === 'ready\n' ? performance.now() - asked : 60_000);
      faults.push(...faultsIn((await scrape(`${admin}/metrics`)).samples));
      const peakKib = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
      seen.peakMib = Math.max(seen.peakMib, peakKib / 1_024);
    }
    seen.faults.push(faults);
  }
  return seen;
}
