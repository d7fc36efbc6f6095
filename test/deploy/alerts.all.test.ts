import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { programOf } from '../support/programs.ts';
import { ALERT_FILE, ALERTS, QUERIES } from './monitoring.ts';

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
  /** The minute in which the fault is over; by default the last one of `at`. */
  readonly until?: number;
  /** The summary of the alert that fires at the end of `at`, with the labels of its expression. A list is one for each variant. */
  readonly says?: Said | readonly Said[];
}
interface Said {
  readonly summary: string;
  readonly labels?: Readonly<Record<string, string>>;
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

/** The values that a text in promtool's notation stands for, `undefined` where there is no sample. */
function expand(values: Values, steps: number): readonly (number | undefined)[] {
  const tokens = `${values}`.split(' ').map((token) => /^(_|[\d.]+)(?:\+([\d.]+))?(?:x(\d+))?$/.exec(token) ?? []);
  return tokens.flatMap(([token, start, slope = '0', times]) => {
    if (token === undefined) throw new Error(`No values: ${values}`);
    const isWhole = tokens.length === 1 && times === undefined;
    // Of gaps there are as many as the number says, of samples one more.
    const length = start === '_' ? Number(times ?? 1) : isWhole ? steps + 1 : Number(times ?? 0) + 1;
    return Array.from({ length }, (_, at) => (start === '_' ? undefined : Number(start) + at * Number(slope)));
  });
}

/** A series with a fault until this step, and well from then on: a counter grows as it does when all is well, a gauge has that value. */
function recovered(name: string, fault: Values, healthy: Values | undefined, until: number, steps: number): string {
  const values = expand(fault, steps).slice(0, until + 1);
  const [well, next] = healthy === undefined ? [] : expand(healthy, steps);
  const isCounter = /_(total|count|bucket)$/.test(name.replace(/\{.*/, ''));
  const [last, growth] = isCounter ? [values.at(-1), (next ?? 0) - (well ?? 0)] : [well, 0];
  const after = (at: number) => (last === undefined ? undefined : last + (at - until) * growth);
  // A case may have fewer values than minutes, and then the series has ended.
  return Array.from({ length: steps + 1 }, (_, at) => (at <= until ? values[at] : after(at)) ?? '_').join(' ');
}

/** A page is over so many minutes after its fault, and a ticket after so many, unless values are further apart. */
const [PAGE_IS_OVER, TICKET_IS_OVER] = [10, 65];

const inSeconds = (minutes: number) => `${minutes * 60}s`;

/** The last minute of a case, and what fires then. */
const endOf = ({ at }: Case) => Math.max(...Object.keys(at).map(Number));
const alertsAtTheEnd = (one: Case) => one.at[endOf(one)] ?? [];
const severityOf = new Map(ALERTS.map(({ alert, labels }) => [alert, labels['severity']]));
const pagesOf = ({ at }: Case) => {
  const fired = new Set(Object.values(at).flat());
  return [...fired].filter((alert) => severityOf.get(alert) === 'page');
};

/** The tests of a case in promtool's words, each over the series with which nothing is wrong, and with its recovery. */
function testsOf(one: Case) {
  const { when, every = 1, at, until, says = [], without, ...setting } = one;
  const isLeft = ([name]: readonly [string, unknown]) => !without || !new RegExp(without).test(name);
  const healthyOnes = new Map(seriesOf(healthy).filter(isLeft));
  const changed = new Map([...seriesOf(healthy).filter(isLeft), ...seriesOf(setting)]);
  const end = endOf(one);
  const atTheEnd = alertsAtTheEnd(one);
  const isPage = atTheEnd.every((alert) => severityOf.get(alert) === 'page');
  const wait = atTheEnd.length === 0 ? 0 : (isPage ? PAGE_IS_OVER : TICKET_IS_OVER) * Math.max(every, 1);
  const minutes = end + wait;
  const steps = minutes / every;
  // It begins with the name of the case, which promtool prints if it fails.
  const asked = (expr: string, minute: number, alerts: readonly string[] = []) => ({
    expr: `# ${when}\n${expr}`,
    eval_time: inSeconds(minute),
    exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
  });
  const firing = (labels = '') => `ALERTS{alertstate="firing"${labels}}`;
  const promql_expr_test = [
    ...Object.entries(at).map(([minute, alerts]) =>
      asked(`count by (alertname) (${firing()})`, Number(minute), alerts),
    ),
    asked(`count(${firing(isPage ? ',severity="page"' : '')})`, minutes),
    // Neither the fault nor its recovery pages for anything else.
    asked(
      `count(max_over_time(${firing(`,severity="page",alertname!~"${pagesOf(one).join('|')}"`)}[${inSeconds(minutes)}]))`,
      minutes,
    ),
  ];
  const texts = [says].flat();
  const variants = Math.max(...[...changed.values()].map(({ length }) => length));
  return Array.from({ length: variants }, (_, variant) => ({
    interval: inSeconds(every),
    input_series: [...changed].map(([series, list]) => {
      const value = (values: readonly Values[] = []) => values[values.length > 1 ? variant : 0];
      const [fault = '', well] = [value(list), value(healthyOnes.get(series))];
      return { series, values: recovered(series, fault, well, (until ?? end) / every, steps) };
    }),
    promql_expr_test,
    alert_rule_test: texts
      .slice(texts.length > 1 ? variant : 0)
      .slice(0, 1)
      .map(({ summary, labels = {} }) => {
        const [alert] = ALERTS.filter((rule) => rule.alert === atTheEnd[0]);
        return {
          eval_time: inSeconds(end),
          alertname: alert?.alert,
          exp_alerts: [
            { exp_labels: { ...labels, ...alert?.labels }, exp_annotations: { ...alert?.annotations, summary } },
          ],
        };
      }),
  }));
}

test('every rule of the alerts, and every query of the dashboard and the autoscaler, is one to Prometheus', async () => {
  await promtool('check', 'rules', ALERT_FILE);
  const rules = QUERIES.map((expr, index) => ({ record: `query:${index}`, expr }));
  const path = join(folder, 'queries.json');
  await writeFile(path, JSON.stringify({ groups: [{ name: 'queries', rules }] }));
  await promtool('check', 'rules', path);
});

test('each alert has a case that ends with it, and a page one in which no other page fires', () => {
  const tested = cases.flatMap(alertsAtTheEnd);
  expect(ALERTS.map(({ alert }) => alert).filter((alert) => !tested.includes(alert))).toEqual([]);
  expect(cases.filter((one) => pagesOf(one).length > 1)).toEqual([]);
});

test('each alert fires when its case says so, no other does, and none goes on after the fault', async () => {
  // A file has one interval, and one process reads it: two files of each for two cores.
  const files = Map.groupBy(cases, ({ every = 1 }, at) => `${every}m-${at % 2}`);
  const paths = [...files].map(async ([name, list]) => {
    const path = join(folder, `every-${name}.json`);
    const evaluation_interval = inSeconds(list[0]?.every ?? 1);
    // JSON is YAML.
    await writeFile(
      path,
      JSON.stringify({ rule_files: [ALERT_FILE], evaluation_interval, tests: list.flatMap(testsOf) }),
    );
    return path;
  });
  await Promise.all(paths.map(async (path) => promtool('test', 'rules', await path)));
  // Half a minute of CPU.
}, 300_000);
