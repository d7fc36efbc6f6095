import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Job, Sample } from '../soak/load.ts';
import { epochMs, type Server, startServer, startUpstream } from '../soak/processes.ts';
import { startLoad } from '../soak/scenarios.ts';
import { ROOT } from '../support/process.ts';
import { columns, type Router } from './columns.ts';
import { startGraph } from './graph.ts';
import { startReplicas } from './replicas.ts';

/**
 * `npm run test:routers -- load`: what a router adds under load, with two replicas of the subgraph as processes of their own. Then a
 * rolling restart under the same load, and 20 s without the services. RATE (requests a second) and SECONDS change it.
 */

const RATE = Number(process.env['RATE'] || 2_000);
const SECONDS = Number(process.env['SECONDS'] || 60);
/** More than a restart of both replicas takes. */
const RESTART_MS = 20_000;
const [AWAY_MS, BACK_MS] = [20_000, 5_000];

const say = (line: string) => process.stdout.write(`${line}\n`);

const quantile = (seen: readonly Sample[], share: number) =>
  seen
    .map(({ at, respondedAt }) => respondedAt - at)
    .sort((a, b) => a - b)
    [Math.floor(seen.length * share)]?.toFixed(1) ?? '';

function outcomes(seen: readonly Sample[]): string {
  const counts = Object.entries(Object.groupBy(seen, ({ outcome }) => outcome));
  return counts.map(([outcome, all = []]) => `${outcome} ${all.length}`).join(', ');
}

/** CPU time of a process so far, in seconds. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const graph = await startGraph();
const { addresses, behave } = await startUpstream();
const running = new Set<Server>();
const replicas = await startReplicas(2, async () => {
  const server = await startServer(addresses, { ROUTER_SECRETS: graph.secret, LOG_SAMPLE: '0' }, `${ROOT}/src/main.ts`);
  running.add(server);
  return { url: server.origin, stop: () => server.end().finally(() => running.delete(server)) };
});
const cpuOfAll = (pids: readonly number[] = []) => pids.reduce((sum, pid) => sum + cpuOf(pid), 0);
const cpuOfSubgraphs = () => cpuOfAll([...running].map(({ pid }) => pid));

async function measure(name: string, { url, pids }: Pick<Router, 'url' | 'pids'>, headers: Job['headers'] = {}) {
  const load = (ms: number) => startLoad({ who: 'people', url, headers, rate: RATE, ms });
  await load(5_000);
  const before = [cpuOfAll(pids), cpuOfSubgraphs()] as const;
  const steady = await load(SECONDS * 1_000);
  const perRequest = ([cpuOfAll(pids) - before[0], cpuOfSubgraphs() - before[1]] as const).map((seconds) =>
    ((seconds / steady.length) * 1_000_000).toFixed(0),
  );
  say(
    `${name} | p50 ${quantile(steady, 0.5)} ms | p99 ${quantile(steady, 0.99)} ms | CPU of router and subgraph ${perRequest.join(' and ')} µs | ${outcomes(steady)}`,
  );
  const [restarted] = await Promise.all([load(RESTART_MS), replicas.restart()]);
  say(`${name}, rolling restart | p99 ${quantile(restarted, 0.99)} ms | ${outcomes(restarted)}`);
  const away = load(AWAY_MS + BACK_MS);
  const each = (mode: 'refused' | 'good') => Promise.all([behave('fingerprint', mode), behave('captcha', mode)]);
  await each('refused');
  await pause(AWAY_MS);
  await each('good');
  const back = epochMs();
  const failed = (await away).filter(({ outcome }) => outcome !== 'data');
  const last = Math.max(...failed.map(({ respondedAt }) => respondedAt));
  say(`${name}, services away | ${outcomes(failed)} | well ${((last - back) / 1_000).toFixed(1)} s after their return`);
}

await measure('the subgraph alone', { url: replicas.url }, { 'router-authorization': graph.secret });
for (const column of columns()) {
  const router = await column.start(graph, graph.supergraphSdl, { ours: replicas.url });
  await measure(column.name, router);
  await router.stop();
}
process.exit(0);
