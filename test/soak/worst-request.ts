import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuTimeOf, memoryOf } from '../bench/cpu.ts';
import { ALLOWED, type Row, startWordyUpstream, underName } from '../server/allowed-requests.ts';
import { json, request } from '../support/requests.ts';
import { openCollector } from './collector.ts';
import { atMost, type Scenario } from './findings.ts';
import { freePort } from './ports.ts';
import { ROUTER_SECRET } from './secret.ts';
import { type Server, textAt } from './testbed.ts';

/** What the most expensive requests cost that the limits allow, one at a time. */

const CPU_MS = 250;
const MEMORY_MIB = 32;
/** How long an orchestrator usually waits, in ms. */
const HEALTH_MS = 1_000;
const ASK_EVERY_MS = 5;

interface Cost {
  readonly what: string;
  readonly cpuMs: number;
  /** By how much resident memory was higher at its highest than before, in MiB. */
  readonly mebibytes: number;
  /** The slowest answer of /healthz meanwhile, in ms. */
  readonly healthMs: number;
}

export const worstRequest: Scenario = async (field) => {
  const port = await freePort();
  const upstream = await startWordyUpstream();
  try {
    const urls = ['EU', 'NA', 'GLB'].map((region) => [`FINGERPRINT_URL_${region}`, upstream.url]);
    const server = await field.serve(Object.fromEntries(urls), [
      `--inspect=127.0.0.1:${port}`,
      '--inspect-publish-uid=http',
    ]);
    const collector = await openCollector(port);
    const costs: Cost[] = [];
    for (const row of ALLOWED) costs.push(...(await costsOf(server, row, collector.collect)));
    await collector.close();
    const most = (key: 'cpuMs' | 'mebibytes' | 'healthMs') => {
      const [worst] = costs.toSorted((one, other) => other[key] - one[key]);
      return [worst?.[key] ?? Number.NaN, worst?.what ?? ''] as const;
    };
    const [cpuMs, costly] = most('cpuMs');
    const [mebibytes, large] = most('mebibytes');
    const [healthMs, slow] = most('healthMs');
    return [
      atMost('worst allowed request: CPU', CPU_MS, cpuMs, ' ms', costly),
      atMost('worst allowed request: memory', MEMORY_MIB, mebibytes, ' MiB', large),
      atMost('worst allowed request: slowest /healthz meanwhile', HEALTH_MS, healthMs, ' ms', slow),
    ];
  } finally {
    await upstream.stop();
  }
};

/** The costs of a document that is new, and of one that was sent often enough to be compiled: the least of several attempts. */
async function costsOf(server: Server, row: Row, collect: () => Promise<void>): Promise<Cost[]> {
  const kinds = { new: ['New1', 'New2'], compiled: ['Same', 'Same', 'Same', 'Same'] };
  const costs: Cost[] = [];
  for (const [kind, names] of Object.entries(kinds)) {
    const attempts: Cost[] = [];
    for (const name of names) attempts.push(await costOf(server, row, name, collect));
    // The last attempts of a name are those that use what was compiled.
    const counted = kind === 'new' ? attempts : attempts.slice(2);
    const least = (key: 'cpuMs' | 'mebibytes' | 'healthMs') => Math.min(...counted.map((cost) => cost[key]));
    const what = `${row[0]}, ${kind}`;
    costs.push({ what, cpuMs: least('cpuMs'), mebibytes: least('mebibytes'), healthMs: least('healthMs') });
  }
  return costs;
}

async function costOf(
  { pid, url, admin }: Server,
  [what, document, variables]: Row,
  name: string,
  collect: () => Promise<void>,
): Promise<Cost> {
  await collect();
  resetPeak(pid);
  const { rss } = memoryOf(pid);
  const before = cpuTimeOf(pid).used;
  let healthMs = 0;
  let isOver = false;
  const health = async () => {
    while (!isOver) {
      const asked = performance.now();
      await textAt(`${admin}/healthz`);
      healthMs = Math.max(healthMs, performance.now() - asked);
      await sleep(ASK_EVERY_MS);
    }
  };
  const watch = health();
  const body = JSON.stringify({ query: underName(name, document), variables });
  const { text } = await request(url, json(body, { 'router-authorization': ROUTER_SECRET }));
  const cpuMs = (cpuTimeOf(pid).used - before) / 1_000;
  const { peak = Number.NaN } = memoryOf(pid);
  isOver = true;
  await watch;
  if (text.includes(' costs more than ')) throw new Error(`expected an allowed request, but got a refusal: ${what}`);
  return { what, cpuMs, mebibytes: peak - rss, healthMs };
}

/** From here on the peak of a process's memory counts anew (proc(5)); elsewhere than on Linux there is none. */
function resetPeak(pid: number): void {
  if (process.platform === 'linux') writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
