import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { startReplicas } from '../routers/replicas.ts';
import { freePort } from '../support/ports.ts';
import { PATIENT, ROOT, startCommand } from '../support/process.ts';
import { programOf } from '../support/programs.ts';
import type { Sample } from './load.ts';
import { epochMs, startServer, startUpstream } from './processes.ts';
import { type Finding, isLost, none, startLoad } from './scenarios.ts';
import type { Behaved, Service } from './upstream.ts';

/**
 * Two regions with their own services, replicas and Prometheus, in the incidents of a day: each fault pages once, nothing else pages,
 * and nothing is lost while no service has a fault.
 */

/** All incidents, with the time that their pages take to end, in s. */
export const REGIONS_S = 1_200;
const PEOPLE_RATE = 10;
/** From the end of a fault until all is well, in ms. */
const OVER_MS = 5_000;
const REPLICAS = 2;
/** Evaluations are a minute apart, so that a page with a longer gap is another one, in s. */
const [STEP_S, SAME_PAGE_S] = [15, 90];
const CLOCK = { NODE_OPTIONS: `--import=${ROOT}/test/soak/late-clock.ts` };

type Region = 'EU' | 'NA';

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
async function startRegion() {
  const [prometheus, services] = [await startPrometheus(), await startUpstream()];
  const start = async (more: Readonly<Record<string, string>> = {}) => {
    const server = await startServer(services.addresses, { ...PATIENT, ...more });
    prometheus.scrape(server.admin, true);
    const stop = async () => {
      prometheus.scrape(server.admin, false);
      await server.end();
    };
    return { url: server.origin, stop };
  };
  return { prometheus, services, start, replicas: await startReplicas(REPLICAS, start) };
}

interface Incident {
  readonly name: string;
  /** In s from the beginning. */
  readonly from: number;
  readonly to: number;
  /** The only alert that pages for it. */
  readonly page: string;
  /** Does a service fail everybody meanwhile? */
  readonly fails?: true;
  readonly begin: () => Promise<unknown>;
  readonly end: () => Promise<unknown>;
}

/** Takes `REGIONS_S`. Throws if Prometheus is not to be had. */
export async function regions(): Promise<Finding[]> {
  const all = { EU: await startRegion(), NA: await startRegion() };
  const { EU: eu } = all;
  const began = epochMs();
  const until = (s: number) => sleep(Math.max(0, began + s * 1_000 - epochMs()));
  const fault = (region: Region, service: Service, mode: Behaved) => ({
    fails: true as const,
    begin: () => all[region].services.behave(service, mode),
    end: () => all[region].services.behave(service, 'good'),
  });
  const incidents: Readonly<Record<Region, readonly Incident[]>> = {
    EU: [
      {
        name: 'the captcha service is down',
        from: 120,
        to: 360,
        page: 'DeviceTrustOutage',
        ...fault('EU', 'captcha', 'refused'),
      },
      {
        name: 'the clock of a replica is 6 s late',
        from: 720,
        to: 960,
        page: 'DeviceTrustClockOff',
        begin: () => eu.replicas.replace(0, () => eu.start(CLOCK)),
        end: () => eu.replicas.replace(0),
      },
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
  const findings = (['EU', 'NA'] as const).map(async (region) => {
    const { replicas, prometheus } = all[region];
    const load = startLoad({ who: 'people', url: replicas.url, rate: PEOPLE_RATE, ms: REGIONS_S * 1_000 });
    for (const { from, to, begin, end } of incidents[region]) {
      await until(from);
      await begin();
      await until(to);
      await end();
    }
    const faults = incidents[region].filter(({ fails }) => fails);
    const isCalm = ({ at, respondedAt }: Sample) =>
      faults.every(({ from, to }) => respondedAt < began + from * 1_000 || at > began + to * 1_000 + OVER_MS);
    const served = (await load).filter(isCalm);
    const pages = await prometheus.pages(began / 1_000);
    await Promise.all([replicas.stop(), prometheus.stop()]);
    return [
      none(`regions: ${region}: lost while no service has a fault`, served, isLost),
      ...judgePages(region, incidents[region], pages, began / 1_000),
    ];
  });
  return (await Promise.all(findings)).flat();
}

/** A page belongs to the last incident that began before it. */
function judgePages(region: Region, incidents: readonly Incident[], pages: readonly Page[], began: number): Finding[] {
  const nothing = { name: 'nothing has happened', from: 0, page: '' };
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
      kept: own.map(({ alert }) => alert).join() === page,
    };
  });
}
