import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, test } from 'vitest';
import { parse } from 'yaml';
import { programOf } from '../support/programs.ts';
import { ALERT_FILE, QUERIES } from './monitoring.ts';

/** Prometheus's own tool reads every rule and every query, and lets each alert fire. */

interface Setting {
  /** `well`, `unknown`, `refused` or `outage` by the replica, then `never` if the account has not worked since it started. */
  readonly accounts?: Readonly<Record<string, string>>;
  /** A list of values is a case for each. */
  readonly series?: Readonly<Record<string, Values | readonly Values[]>>;
}
type Values = string | number;
interface Case extends Setting {
  readonly when: string;
  readonly every?: number;
  /** Leaves out the series that have this text. */
  readonly without?: string;
  readonly at: Readonly<Record<string, readonly string[]>>;
}

const table = await readFile(join(import.meta.dirname, 'alerts.cases.yaml'), 'utf8');
const { healthy, cases }: { healthy: Setting; cases: readonly Case[] } = parse(table);
const folder = await mkdtemp(join(tmpdir(), 'device-trust-alerts-'));
afterAll(() => rm(folder, { recursive: true }));

/** Runs promtool; rejects, with what it says, if it has anything to object. */
const promtool = (...words: string[]) =>
  promisify(execFile)(programOf('promtool', 'apt-get install -y prometheus'), words);

test('the scrape configuration is one to Prometheus', async () => {
  await promtool('check', 'config', join(import.meta.dirname, '../../deploy/prometheus.yaml'));
});

/** The values of each series, once for each variant of the case. */
function seriesOf({ accounts = {}, series = {} }: Setting): [name: string, variants: readonly Values[]][] {
  const ofAccounts = Object.entries(accounts).flatMap(([instance, text]): [string, readonly Values[]][] => {
    const [shown, never] = text.split(' ');
    const labels = `job="device-trust",instance="${instance}",service="captcha",region="EU",account="c"`;
    const states = ['unknown', 'well', 'refused', 'outage'].map((state): [string, readonly Values[]] => [
      `device_trust_upstream_health{${labels},state="${state}"}`,
      [Number(state === shown)],
    ]);
    return [...states, [`device_trust_upstream_has_worked{${labels}}`, [Number(!never)]]];
  });
  const ofReplicas = Object.entries(series).flatMap(([name, values]) =>
    (name.includes('"*"') ? ['a', 'b', 'c'] : ['']).map((instance): [string, readonly Values[]] => [
      name.replace('"*"', `"${instance}"`),
      [values].flat(),
    ]),
  );
  return [...ofAccounts, ...ofReplicas];
}

/** The tests of a case in promtool's words, each over the series with which nothing is wrong. */
function testsOf({ when, every = 1, at, without, ...setting }: Case) {
  const isLeft = ([name]: readonly [string, unknown]) => !without || !new RegExp(without).test(name);
  const changed = new Map([...seriesOf(healthy).filter(isLeft), ...seriesOf(setting)]);
  const steps = Math.max(...Object.keys(at).map(Number)) / every;
  const inFull = (values: Values = '') => {
    const text = typeof values === 'number' ? `${values}+0` : values;
    return /^[\d.]+\+\d+$/.test(text) ? `${text}x${steps}` : text;
  };
  const promql_expr_test = Object.entries(at).map(([minute, alerts]) => ({
    // It begins with the name of the case, which promtool prints if it fails.
    expr: `# ${when}\ncount by (alertname) (ALERTS{alertstate="firing"})`,
    eval_time: `${minute}m`,
    exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
  }));
  const variants = Math.max(...[...changed.values()].map(({ length }) => length));
  return Array.from({ length: variants }, (_, variant) => ({
    interval: `${every}m`,
    input_series: [...changed].map(([series, values]) => ({
      series,
      values: inFull(values[values.length > 1 ? variant : 0]),
    })),
    promql_expr_test,
  }));
}

test('every rule of the alerts, and every query of the dashboard and the autoscaler, is one to Prometheus', async () => {
  await promtool('check', 'rules', ALERT_FILE);
  const rules = QUERIES.map((expr, index) => ({ record: `query:${index}`, expr }));
  const path = join(folder, 'queries.json');
  await writeFile(path, JSON.stringify({ groups: [{ name: 'queries', rules }] }));
  await promtool('check', 'rules', path);
});

test('each alert fires when its case says so, and no other does', async () => {
  const paths = [...Map.groupBy(cases, ({ every = 1 }) => every)].map(async ([every, list]) => {
    const path = join(folder, `every-${every}m.json`);
    const tests = list.flatMap(testsOf);
    // JSON is YAML.
    await writeFile(path, JSON.stringify({ rule_files: [ALERT_FILE], evaluation_interval: `${every}m`, tests }));
    return path;
  });
  await promtool('test', 'rules', ...(await Promise.all(paths)));
});
