import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { newSealingKey } from '../../src/fingerprint/sealed-judgement.ts';
import { startRelay, startReplicas } from '../routers/replicas.ts';
import { PATIENT, ROOT } from '../support/process.ts';
import { startRedis } from '../support/redis.ts';
import { checkOutLastRelease, patienceOf } from '../upgrade/last-release.ts';
import { epochMs, type Server, startScript, startServer, startUpstream } from './processes.ts';
import type { RouterReport } from './router.ts';
import { atMost, type Finding, isLost, none, startLoad } from './scenarios.ts';

/** A company's graph under load: a router, two replicas with a quota store that fails over, and an upgrade from the last release. */

/** Half of what is answered in the second half of this time, in ms, is the load, up to this rate. */
const [CALIBRATION_MS, MOST_RATE] = [6_000, 300];
/** As parts of the whole: when the upgrade and the failover begin, and from when on memory is measured, if that is a minute. */
const [UPGRADE_AT, MEASURED_FROM, FAILOVER_AT] = [0.05, 0.5, 0.75];
const [MEASURED_S, MEASUREMENTS, MAX_GROWTH_MIB] = [60, 40, 2];
/** How long nobody notices that the primary is dead, in ms. */
const UNNOTICED_MS = 1_000;
/** `SHUTDOWN_GRACE_MS` and 7 s: nothing may take longer to end (schema/README.md). */
const EXIT_S = 9;
const QUOTA = '{"perDay":100000000}';

/** A primary and its standby behind one address, which leads nowhere while the store fails over. */
async function startStore() {
  const stores = [await startRedis(), await startRedis()] as const;
  const [primary, standby] = stores;
  process.once('exit', () => void stores.map(({ kill }) => kill()));
  const { port, password } = new URL(primary.url);
  let target: string | undefined = port;
  const relay = await startRelay(() => (target ? Number(target) : undefined));
  const url = primary.url.replace(port, `${relay.port}`);
  const second = new Redis(standby.url);
  second.on('error', () => {});
  await second.config('SET', 'masterauth', password);
  await second.replicaof('127.0.0.1', Number(port));
  return {
    url,
    failOver: async () => {
      await primary.kill();
      target = undefined;
      await sleep(UNNOTICED_MS);
      await second.replicaof('NO', 'ONE');
      target = new URL(standby.url).port;
    },
    stop: async () => {
      relay.stop();
      second.disconnect();
      await Promise.all(stores.map(({ stop }) => stop()));
    },
  };
}

/** Takes somewhat more than these seconds. Throws if Redis or the last release is not to be had. */
export async function company(seconds: number): Promise<Finding[]> {
  const store = await startStore();
  const last = await checkOutLastRelease();
  process.once('exit', () => rmSync(last.folder, { recursive: true }));
  const { addresses } = await startUpstream();
  const sealingKeys = [newSealingKey()];
  const env = {
    TRUSTED_HEADERS: '{"subject":"x-user-id","scopes":"x-user-scopes"}',
    SEALING_KEYS: JSON.stringify(sealingKeys),
    FINGERPRINT_QUOTA: QUOTA,
    CAPTCHA_QUOTA: QUOTA,
    QUOTA_STORE_URL: store.url,
  };
  const servers: Server[] = [];
  const stopped = new Set<Server>();
  const running = () => servers.filter((server) => !stopped.has(server));
  const exits: string[] = [];
  const start = async (more: object, main?: string) => {
    const server = await startServer(addresses, { ...env, ...more }, main);
    servers.push(server);
    const stop = async () => {
      const from = performance.now();
      stopped.add(server);
      const code = await server.end();
      exits.push(performance.now() - from > EXIT_S * 1_000 ? `${code} too late` : code);
    };
    return { url: server.origin, stop };
  };
  const startLast = () => start(patienceOf(last.folder), `${last.folder}/src/main.ts`);
  const startThis = () => start({ ...PATIENT, NODE_OPTIONS: `--import=${ROOT}/test/soak/heap.ts` });
  const replicas = await startReplicas(2, startLast);
  // Safe: this is what that script answers.
  const router = (await startScript('router.ts', process.env).ask({ ours: replicas.url, sealingKeys })) as RouterReport;
  const visitors = { who: 'company', url: router.url, headers: router.headers } as const;
  const full = await startLoad({ ...visitors, ms: CALIBRATION_MS });
  const warm = full.filter(({ at }) => at > (full[0]?.at ?? 0) + CALIBRATION_MS / 2);
  const rate = Math.min(MOST_RATE, (warm.length / CALIBRATION_MS) * 1_000);
  const [begin, ms] = [epochMs(), seconds * 1_000];
  const load = startLoad({ ...visitors, rate, ms });
  const until = (part: number) => sleep(Math.max(0, begin + part * ms - epochMs()));

  await until(UPGRADE_AT);
  await replicas.replace(0, startThis);
  await replicas.replace(1, startThis);
  // Back and forth.
  await replicas.replace(0, startLast);
  await replicas.replace(0, startThis);
  await until(MEASURED_FROM);
  const [memories, window]: [number[][], number] = [[], ms * (1 - MEASURED_FROM)];
  let isOver = false;
  const measured = (async () => {
    for (; !isOver; await sleep(window / MEASUREMENTS))
      memories.push(await Promise.all(running().map(({ memory }) => memory())));
  })();
  await until(FAILOVER_AT);
  await store.failOver();
  const samples = await load;
  isOver = true;
  await measured;

  await replicas.stop();
  await store.stop();
  const errors = servers.flatMap(({ notable }) => notable.filter((line) => !line.includes('quota')));
  const failed = exits.filter((exit) => exit !== '0').length;
  const growth = [0, 1].map((at) =>
    flat(
      at + 1,
      memories.map((both) => both[at] ?? Number.NaN),
    ),
  );
  return [
    none(`company: at ${Math.round(rate)}/s through ${router.name}, lost or answered differently`, samples, isLost),
    ...(window < MEASURED_S * 1_000 ? [] : growth),
    atMost('company: lines of the log at the level error', 0, errors.length, '', errors[0]),
    atMost(`company: exits that fail or take more than ${EXIT_S} s`, 0, failed, '', `${exits}`),
  ];
}

/** Compares the median of what is in use in the last quarter with that of the first. */
function flat(replica: number, bytes: readonly number[]): Finding {
  const median = (part: readonly number[]) =>
    (part.toSorted((a, b) => a - b)[part.length >> 1] ?? Number.NaN) / 2 ** 20;
  const quarter = Math.ceil(bytes.length / 4);
  const [from, to] = [median(bytes.slice(0, quarter)), median(bytes.slice(-quarter))];
  const more = `${from.toFixed(1)} to ${to.toFixed(1)} MiB in use`;
  return atMost(`company: growth of replica ${replica}`, MAX_GROWTH_MIB, to - from, ' MiB', more);
}
