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
  /** The alerts that fire in these minutes. The fault ends after the last one. */
  readonly at: Readonly<Record<string, readonly string[]>>;
  /** The text of the alert in the last of these minutes, and its labels beside those of its rule. */
  readonly says?: { readonly labels?: Readonly<Record<string, string>>; readonly summary: string };
  /** The minutes after the end of the fault in which its alerts end, if they look back further than others. */
  readonly quietAfter?: number;
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

/** Values in promtool's notation one by one, `_` for none; the last sequence goes on as long as it has to. */
function expand(values: Values, length: number): (number | '_')[] {
  const parts = `${values}`.split(' ');
  return parts.flatMap((part, at) => {
    const [, first = '', step = '0', times] = /^(_|[\d.]+)([+-][\d.]+)?(?:x(\d+))?$/.exec(part) ?? [];
    const isLast = at === parts.length - 1;
    // A number alone goes on too, if there is no other.
    const goesOn = isLast && times === undefined && (parts.length === 1 || step !== '0');
    const count = goesOn ? length : Number(times ?? 0) + (first === '_' && times !== undefined ? 0 : 1);
    return Array.from({ length: count }, (_, n) => (first === '_' ? '_' : Number(first) + n * Number(step)));
  });
}

/** How many minutes after the end of a fault its alerts have ended, unless the case has its own `quietAfter`. */
const QUIET_AFTER = 40;

/** A series after its fault: it goes on as if nothing were wrong, a counter from where it is. Otherwise a gauge ends. */
function recovered(name: string, last: number | '_', healthy: Values | undefined, length: number): (number | '_')[] {
  const isCounter = /_(total|count|bucket)\{|_(total|count|bucket)$/.test(name);
  if (healthy === undefined) return Array.from({ length }, () => (isCounter ? last : '_'));
  const [from = 0, next = 0] = expand(healthy, 2).map(Number);
  const start = isCounter && last !== '_' ? last : from;
  return Array.from({ length }, (_, n) => start + (n + 1) * (next - from));
}

/**
 * The tests of a case in promtool's words, each over the series with which nothing is wrong: what fires at these minutes, that
 * no other page fires in any minute of the fault or of the recovery after it, and that nothing fires in the end.
 */
function testsOf({ when, every = 1, at, says, without, quietAfter = QUIET_AFTER, ...setting }: Case) {
  const isLeft = ([name]: readonly [string, unknown]) => !without || !new RegExp(without).test(name);
  const usual = new Map(seriesOf(healthy).filter(isLeft));
  const changed = new Map([...usual, ...seriesOf(setting)]);
  const minutes = Object.keys(at).map(Number);
  const [end, steps, more] = [Math.max(...minutes), Math.max(...minutes) / every + 1, Math.ceil(quietAfter / every)];
  const expected = [...new Set(Object.values(at).flat())];
  const firing = (others: string, minute: number, alerts: readonly string[]) => ({
    // It begins with the name of the case, which promtool prints if it fails.
    expr: `# ${when}\ncount by (alertname) (ALERTS{alertstate="firing"${others}})`,
    eval_time: `${minute}m`,
    exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
  });
  const others = `,severity="page",alertname!~"${expected.join('|')}"`;
  const promql_expr_test = [
    ...Object.entries(at).map(([minute, alerts]) => firing('', Number(minute), alerts)),
    ...Array.from({ length: steps + more }, (_, n) => firing(others, n * every, [])),
    firing('', end + more * every, []),
  ];
  const variants = Math.max(...[...changed.values()].map(({ length }) => length));
  return Array.from({ length: variants }, (_, variant) => ({
    interval: `${every}m`,
    input_series: [...changed].map(([series, values]) => {
      const fault = expand(values[values.length > 1 ? variant : 0] ?? '', steps).slice(0, steps);
      const after = recovered(series, fault.at(-1) ?? '_', usual.get(series)?.[0], more);
      return { series, values: [...fault, ...after].join(' ') };
    }),
    promql_expr_test,
    alert_rule_test: says ? [textOf(at[end]?.[0] ?? '', end, says)] : [],
  }));
}

/** The test of an alert's text, in promtool's words. */
function textOf(alertname: string, minute: number, { labels = {}, summary }: NonNullable<Case['says']>) {
  const rule = ALERTS.find(({ alert }) => alert === alertname);
  const exp_annotations = { ...rule?.annotations, summary };
  return {
    alertname,
    eval_time: `${minute}m`,
    exp_alerts: [{ exp_labels: { ...rule?.labels, ...labels }, exp_annotations }],
  };
}

test('every rule of the alerts, and every query of the dashboard and the autoscaler, is one to Prometheus', async () => {
  await promtool('check', 'rules', ALERT_FILE);
  const rules = QUERIES.map((expr, index) => ({ record: `query:${index}`, expr }));
  const path = join(folder, 'queries.json');
  await writeFile(path, JSON.stringify({ groups: [{ name: 'queries', rules }] }));
  await promtool('check', 'rules', path);
});

test('every alert has a case', () => {
  const fired = new Set(cases.flatMap(({ at }) => Object.values(at).flat()));
  expect(ALERTS.map(({ alert }) => alert).filter((alert) => !fired.has(alert))).toEqual([]);
});

test('each alert fires when its case says so, with its text, and ends after the fault; no other page does', async () => {
  const paths = [...Map.groupBy(cases, ({ every = 1 }) => every)].map(async ([every, list]) => {
    const path = join(folder, `every-${every}m.json`);
    const tests = list.flatMap(testsOf);
    // JSON is YAML.
    await writeFile(path, JSON.stringify({ rule_files: [ALERT_FILE], evaluation_interval: `${every}m`, tests }));
    return path;
  });
  await promtool('test', 'rules', ...(await Promise.all(paths)));
});
