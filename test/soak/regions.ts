import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { startReplicas } from '../routers/replicas.ts';
import { freePort } from '../support/ports.ts';
import { PATIENT, ROOT, startCommand } from '../support/process.ts';
import { programOf } from '../support/programs.ts';
import { startRedis } from '../support/redis.ts';
import type { Sample } from './load.ts';
import { epochMs, startServer, startUpstream } from './processes.ts';
import { atMost, type Finding, isLost, none, startLoad } from './scenarios.ts';
import type { Addresses, Behaved, Service } from './upstream.ts';

/**
 * Two regions with their own services, replicas, store and Prometheus, in the incidents of a day: each fault pages once, and nothing
 * else pages.
 */

/** All incidents, with the time that their pages take to end, in s. */
export const REGIONS_S = 1_200;
const PEOPLE_RATE = 10;
/** Requests of a service beside the router, before an outage and in it; every second one has a captcha. */
const [SHOP_RATE, SHOP_RUSH] = [1, 10];
/** In each of five minutes twice the passes of the minute before the outage, and one that is counted in another minute (schema/README.md). */
const SHOP_MOST = 5 * 2 * (30 * SHOP_RATE + 1);
/** From the beginning of an outage until people proceed, and from the end of a fault until all is well, in ms. */
const [KNOWN_MS, OVER_MS] = [3_000, 5_000];
/** In an outage, how long a replica stops people until its own probes have confirmed it (schema/README.md), in ms. */
const CONFIRM_MS = 1_000;
const REPLICAS = 2;
/** Evaluations are a minute apart, so that a page with a longer gap is another one, in s. */
const [STEP_S, SAME_PAGE_S] = [15, 90];
const SHOP = 'the-secret-of-the-shop';
/** A store needs a quota. */
const QUOTA = '{"perDay":1000000}';
const CLOCK = { NODE_OPTIONS: `--import=${ROOT}/test/soak/late-clock.ts` };

type Region = 'EU' | 'NA';
const ACCOUNTS = {
  EU: { publicKey: 'pk_eu', captchaId: 'b'.repeat(32) },
  NA: { publicKey: 'pk_na', captchaId: 'c'.repeat(32) },
} as const;

/** The variables of a deployment with the accounts of these regions, its own first. */
function accountsOf(regions: readonly Region[], addresses: Readonly<Record<Region, Addresses>>) {
  const accounts = regions.map((region) => ({ ...ACCOUNTS[region], region }));
  return Object.assign(
    {
      // Without its own accounts, a deployment has no address of EU.
      ...{ FINGERPRINT_URL_EU: '', CAPTCHA_URL_EU: '' },
      FINGERPRINT_APPLICATIONS: JSON.stringify(
        accounts.map(({ publicKey, region }) => ({ publicKey, secret: 'sk', region })),
      ),
      CAPTCHA_CONFIGURATIONS: JSON.stringify(
        accounts.map(({ captchaId, region }) => ({ captchaId, captchaKey: 'key', region })),
      ),
      SERVICES: JSON.stringify([{ name: 'shop', secret: SHOP, scopes: [] }]),
    },
    ...regions.map((region) => ({
      [`FINGERPRINT_URL_${region}`]: addresses[region].fingerprint,
      [`CAPTCHA_URL_${region}`]: addresses[region].captcha,
    })),
  );
}

interface Page {
  readonly alert: string;
  /** In s since 1970. */
  readonly from: number;
  readonly to: number;
}

/** Prometheus as `deploy/prometheus.yaml` and `deploy/alerts.yaml` have it, which scrapes the replicas that a file names. */
async function startPrometheus() {
  const folder = mkdtempSync(join(tmpdir(), 'device-trust-prometheus-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const [config, targets, port] = [join(folder, 'config.yaml'), join(folder, 'targets.json'), await freePort()];
  const own = parse(readFileSync(join(ROOT, 'deploy/prometheus.yaml'), 'utf8'));
  const { dns_sd_configs: _dns, ...job } = own.scrape_configs[0];
  const scrape_configs = [{ ...job, file_sd_configs: [{ files: [targets] }] }];
  writeFileSync(config, JSON.stringify({ rule_files: [join(ROOT, 'deploy/alerts.yaml')], scrape_configs }));
  const scraped = new Set<string>();
  const write = () => writeFileSync(targets, JSON.stringify([{ targets: [...scraped] }]));
  write();
  const command = programOf('prometheus', 'apt-get install -y prometheus');
  const words = [`--config.file=${config}`, `--storage.tsdb.path=${folder}/data`];
  const server = startCommand([command, ...words, `--web.listen-address=127.0.0.1:${port}`], { cwd: folder });
  process.once('exit', () => server.signal('SIGKILL'));
  return {
    scrape: (admin: string, isThere: boolean) => {
      scraped[isThere ? 'add' : 'delete'](new URL(admin).host);
      write();
    },
    /** What paged since this time, in s since 1970. */
    pages: async (start: number): Promise<readonly Page[]> => {
      const query = 'max by (alertname) (ALERTS{alertstate="firing",severity="page"})';
      const parameters = new URLSearchParams({
        query,
        start: `${start}`,
        end: `${epochMs() / 1_000}`,
        step: `${STEP_S}`,
      });
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/query_range?${parameters}`);
      // Safe: this is what Prometheus documents.
      const { data } = (await response.json()) as {
        data: { result: { metric: { alertname: string }; values: [number, string][] }[] };
      };
      return data.result.flatMap(({ metric, values }) => {
        const pages: { alert: string; from: number; to: number }[] = [];
        for (const [at] of values) {
          const last = pages.at(-1);
          if (last && at - last.to <= SAME_PAGE_S) last.to = at;
          else pages.push({ alert: metric.alertname, from: at, to: at });
        }
        return pages;
      });
    },
    stop: () => server.end('SIGTERM'),
  };
}

/** A region in which nothing has happened yet. */
async function startRegion(region: Region, addresses: Readonly<Record<Region, Addresses>>) {
  const [prometheus, redis] = [await startPrometheus(), await startRedis()];
  process.once('exit', redis.kill);
  const store = { QUOTA_STORE_URL: redis.url, CAPTCHA_QUOTA: QUOTA };
  const start = async (more: Readonly<Record<string, string>> = {}, regions: readonly Region[] = [region]) => {
    const server = await startServer(addresses[region], {
      ...PATIENT,
      ...accountsOf(regions, addresses),
      ...store,
      ...more,
    });
    prometheus.scrape(server.admin, true);
    const stop = async () => {
      prometheus.scrape(server.admin, false);
      await server.end();
    };
    return { url: server.origin, stop };
  };
  return { prometheus, redis, start, replicas: await startReplicas(REPLICAS, start) };
}

interface Incident {
  readonly name: string;
  /** In s from the beginning. */
  readonly from: number;
  readonly to: number;
  /** The only alert that pages for it. */
  readonly page?: string;
  /** Does a service fail everybody meanwhile? */
  readonly fails?: true;
  readonly begin?: () => Promise<unknown>;
  readonly end?: () => Promise<unknown>;
}

/** Takes `REGIONS_S`. Throws if Prometheus is not to be had. */
export async function regions(): Promise<Finding[]> {
  const services = { EU: await startUpstream(), NA: await startUpstream() };
  const addresses = { EU: services.EU.addresses, NA: services.NA.addresses };
  const [eu, na] = [await startRegion('EU', addresses), await startRegion('NA', addresses)];
  const began = epochMs();
  const until = (s: number) => sleep(Math.max(0, began + s * 1_000 - epochMs()));
  const load = (url: string, home: Region, from: number, to: number) =>
    until(from).then(() =>
      startLoad({ who: 'people', url, rate: PEOPLE_RATE, ms: (to - from) * 1_000, ids: ACCOUNTS[home] }),
    );
  const fault = (region: Region, service: Service, mode: Behaved) => ({
    fails: true as const,
    begin: () => services[region].behave(service, mode),
    end: () => services[region].behave(service, 'good'),
  });
  const [DOWN, EMPTIED, LATE] = [
    { name: 'the captcha service is down', from: 120, to: 360, page: 'DeviceTrustOutage' },
    { name: 'all people are sent to NA', from: 480, to: 660 },
    { name: 'the clock of a replica is 6 s late', from: 720, to: 960, page: 'DeviceTrustClockOff' },
  ] as const;
  const incidents: Readonly<Record<Region, readonly Incident[]>> = {
    EU: [
      { ...DOWN, ...fault('EU', 'captcha', 'refused') },
      EMPTIED,
      { ...LATE, begin: () => eu.replicas.replace(0, () => eu.start(CLOCK)), end: () => eu.replicas.replace(0) },
    ],
    NA: [
      {
        name: 'the fingerprint service answers 429',
        from: 120,
        to: 360,
        page: 'DeviceTrustMostRateLimited',
        ...fault('NA', 'fingerprint', 'limited'),
      },
      {
        name: 'the captcha service refuses the account',
        from: 720,
        to: 960,
        page: 'DeviceTrustAccountRefused',
        ...fault('NA', 'captcha', 'unknown'),
      },
    ],
  };
  const ofShop = (rate: number, from: number, to: number) =>
    until(from).then(() => {
      const headers = { authorization: `Bearer ${SHOP}` };
      return startLoad({ who: 'people', url: eu.replicas.url, rate, ms: (to - from) * 1_000, headers });
    });
  const shop = [ofShop(SHOP_RATE, 0, DOWN.from), ofShop(SHOP_RUSH, DOWN.from, DOWN.to)];
  const people = {
    EU: [
      load(eu.replicas.url, 'EU', 0, EMPTIED.from),
      load(na.replicas.url, 'EU', EMPTIED.from, EMPTIED.to),
      load(eu.replicas.url, 'EU', EMPTIED.to, REGIONS_S),
    ],
    NA: [load(na.replicas.url, 'NA', 0, REGIONS_S)],
  };
  const days = Object.values(incidents).map(async (all) => {
    for (const { from, to, begin, end } of all) {
      await until(from);
      await begin?.();
      await until(to);
      await end?.();
    }
  });
  // Before people come, NA gets the accounts of both, its own first (deploy/README.md, Regions).
  const prepared = until(EMPTIED.from - 60).then(async () => {
    for (const at of [0, 1]) await na.replicas.replace(at, () => na.start({}, ['NA', 'EU']));
  });
  await Promise.all([...days, prepared]);
  const served = { EU: await all(people.EU), NA: await all(people.NA), shop: await all(shop) };

  const findings: Finding[] = [];
  for (const region of ['EU', 'NA'] as const) {
    const faults = incidents[region].filter(({ fails }) => fails);
    const isCalm = ({ at, respondedAt }: Sample) =>
      faults.every(({ from, to }) => respondedAt < began + from * 1_000 || at > began + to * 1_000 + OVER_MS);
    findings.push(none(`regions: ${region}: lost while no service has a fault`, served[region].filter(isCalm), isLost));
    const pages = await (region === 'EU' ? eu : na).prometheus.pages(began / 1_000);
    findings.push(...judgePages(region, incidents[region], pages, began / 1_000));
  }
  const inOutage = ({ at, respondedAt, question }: Sample) =>
    question === 'captcha' && at > began + DOWN.from * 1_000 + KNOWN_MS && respondedAt < began + DOWN.to * 1_000;
  const isStopped = ({ proceeds }: Sample) => !proceeds;
  const stopped = served.EU.filter((sample) => inOutage(sample) && isStopped(sample));
  const { pk_eu: elsewhere = [] } = await services.EU.arrivals('fingerprint');
  const moved = elsewhere.filter((at) => at > began + EMPTIED.from * 1_000 && at < began + EMPTIED.to * 1_000).length;
  const rush = served.shop.filter((sample) => inOutage(sample) && !isStopped(sample)).length;
  findings.push(
    atMost('regions: seconds of the outage in which people of EU are stopped', REPLICAS - 1, secondsWith(stopped)),
    atMost('regions: captchas of a service that proceed in the outage, by its own passes', SHOP_MOST, rush),
    atMost('regions: is no token of the empty region judged by its service?', 0, moved > 0 ? 0 : 1),
  );
  await Promise.all([eu, na].map(({ replicas }) => replicas.stop()));
  await Promise.all([eu, na].flatMap(({ prometheus, redis }) => [prometheus.stop(), redis.stop()]));
  return findings;
}

const all = async (loads: readonly Promise<readonly Sample[]>[]) => (await Promise.all(loads)).flat();

/** The least number of seconds that hold all samples. */
function secondsWith(samples: readonly Sample[]): number {
  let [seconds, end] = [0, Number.NEGATIVE_INFINITY];
  for (const { at } of samples.toSorted((a, b) => a.at - b.at)) {
    if (at < end) continue;
    seconds += 1;
    end = at + CONFIRM_MS;
  }
  return seconds;
}

/** A page belongs to the last incident that began before it. */
function judgePages(region: Region, incidents: readonly Incident[], pages: readonly Page[], began: number): Finding[] {
  const nothing = { name: 'nothing has happened', from: 0, page: undefined };
  const all = [nothing, ...incidents];
  return all.map(({ name, from, page }, at) => {
    const next = began + (all[at + 1]?.from ?? Number.POSITIVE_INFINITY);
    const own = pages.filter((one) => one.from >= began + from && one.from < next);
    const shown = own.map(
      (one) => `${one.alert} after ${Math.round(one.from - began - from)} s for ${one.to - one.from} s`,
    );
    return {
      promise: `regions: ${region}: pages when ${name}`,
      promised: page ? `${page}, once` : 'none',
      measured: shown.join(', ') || 'none',
      kept: own.map(({ alert }) => alert).join() === (page ?? ''),
    };
  });
}
