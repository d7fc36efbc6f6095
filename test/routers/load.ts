import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { freePort } from '../support/ports.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { columns, type Router } from './columns.ts';
import { startGraph } from './graph.ts';
import { startReplicas } from './replicas.ts';

/**
 * `npm run test:routers -- load`: what a router adds under load, with two replicas of the subgraph as processes of their own. Then a
 * rolling restart under the same load, and 20 s without the fingerprint service. RATE (requests a second) and SECONDS change it.
 */

const RATE = Number(process.env['RATE'] || 2_000);
const SECONDS = Number(process.env['SECONDS'] || 60);
const AWAY_MS = 20_000;
const QUERY =
  'query ($t: String!) { deviceFingerprint(token: $t) { ... on DeviceFingerprint { clientType signals { code } } } }';

const say = (line: string) => process.stdout.write(`${line}\n`);

interface Seen {
  /** When the answer came, and how long after its request was due, in ms. */
  readonly at: number;
  readonly ms: number;
  /** `ok`, or what the client saw. */
  readonly outcome: string;
}

/** Sends so many a second, whether or not earlier ones were answered, until the promise settles. */
async function load(url: string, headers: Record<string, string>, until: Promise<unknown>): Promise<Seen[]> {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections: 128 });
  const seen: Seen[] = [];
  const asked: Promise<unknown>[] = [];
  let isOver = false;
  const over = until.finally(() => {
    isOver = true;
  });
  const start = performance.now();
  for (let sent = 0; !isOver; ) {
    for (; sent < ((performance.now() - start) / 1_000) * RATE; sent += 1) {
      const due = start + (sent / RATE) * 1_000;
      const body = JSON.stringify({ query: QUERY, variables: { t: `sandbox:ios#${sent}` } });
      const answered = pool
        .request({ path, method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
        .then(async (answer) => outcomeOf(await answer.body.text()))
        .catch((error) => `no answer: ${error.code}`);
      asked.push(
        answered.then((outcome) => seen.push({ at: performance.now(), ms: performance.now() - due, outcome })),
      );
    }
    await pause(1);
  }
  await over;
  await Promise.all(asked);
  await pool.destroy();
  return seen;
}

function outcomeOf(text: string): string {
  if (!text.includes('"errors"')) return 'ok';
  return /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? text.slice(0, 60);
}

const quantile = (seen: readonly Seen[], share: number) =>
  seen
    .map(({ ms }) => ms)
    .sort((a, b) => a - b)
    [Math.floor(seen.length * share)]?.toFixed(1) ?? '';

function outcomes(seen: readonly Seen[]): string {
  const counts = Object.entries(Object.groupBy(seen, ({ outcome }) => outcome));
  return counts.map(([outcome, all = []]) => `${outcome} ${all.length}`).join(', ');
}

/** CPU time of a process so far, in seconds. */
function cpuOf(pid: number | undefined): number {
  if (pid === undefined) return 0;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const graph = await startGraph();
const sandboxPort = await freePort();
const startSandbox = () => startProcess('src/start-sandbox.ts', { SANDBOX_PORT: `${sandboxPort}` });
let sandbox = startSandbox();
await sandbox.waitFor(/region EU/);
const running = new Set<TestProcess>();
const replicas = await startReplicas(2, async () => {
  const port = `${await freePort()}`;
  const address = `http://127.0.0.1:${sandboxPort}`;
  const subgraph = startProcess('src/main.ts', {
    PORT: port,
    FINGERPRINT_APPLICATIONS: '[{"publicKey":"pk_sandbox_glb","secret":"sk_sandbox_glb","region":"GLB"}]',
    FINGERPRINT_URL_GLB: address,
    CAPTCHA_CONFIGURATIONS: `[{"captchaId":"${'a'.repeat(32)}","captchaKey":"key_sandbox_glb","region":"GLB"}]`,
    CAPTCHA_URL_GLB: address,
    ROUTER_SECRETS: graph.secret,
    LOG_SAMPLE: '0',
    SHUTDOWN_GRACE_MS: '2000',
  });
  running.add(subgraph);
  await subgraph.waitFor(/"msg":"ready"/);
  const stop = () => subgraph.end('SIGTERM').finally(() => running.delete(subgraph));
  return { url: `http://127.0.0.1:${port}`, stop };
});
const cpuOfSubgraphs = () => [...running].reduce((sum, { pid }) => sum + cpuOf(pid), 0);

async function measure(
  name: string,
  router: Pick<Router, 'url' | 'pids'>,
  headers: Record<string, string>,
): Promise<void> {
  const cpuOfRouter = () => (router.pids ?? []).reduce((sum, pid) => sum + cpuOf(pid), 0);
  await load(router.url, headers, pause(5_000));
  const before = [cpuOfRouter(), cpuOfSubgraphs()] as const;
  const steady = await load(router.url, headers, pause(SECONDS * 1_000));
  const perRequest = ([cpuOfRouter() - before[0], cpuOfSubgraphs() - before[1]] as const).map((seconds) =>
    ((seconds / steady.length) * 1_000_000).toFixed(0),
  );
  say(
    `${name} | p50 ${quantile(steady, 0.5)} ms | p99 ${quantile(steady, 0.99)} ms | CPU of router and subgraph ${perRequest.join(' and ')} µs | ${outcomes(steady)}`,
  );
  const restarted = await load(router.url, headers, replicas.restart());
  say(`${name}, rolling restart | p99 ${quantile(restarted, 0.99)} ms | ${outcomes(restarted)}`);
  let back = 0;
  const outage = async () => {
    await sandbox.stop();
    await pause(AWAY_MS);
    sandbox = startSandbox();
    await sandbox.waitFor(/region EU/);
    back = performance.now();
    await pause(5_000);
  };
  const away = await load(router.url, headers, outage());
  const failed = away.filter(({ outcome }) => outcome !== 'ok');
  const last = Math.max(...failed.map(({ at }) => at));
  say(`${name}, service away | ${outcomes(failed)} | well ${((last - back) / 1_000).toFixed(1)} s after its return`);
}

const direct = { 'router-authorization': graph.secret };
await measure('the subgraph alone', { url: replicas.url, pids: [] }, direct);
for (const column of columns()) {
  const router = await column.start(graph, graph.supergraphSdl, { ours: replicas.url });
  await measure(column.name, router, {});
  await router.stop();
}
await sandbox.stop();
await replicas.stop();
await graph.stop();
process.exit(0);
