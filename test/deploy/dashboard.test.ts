import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../support/process.ts';
import { ALERTS } from './alerts.ts';
import { expectToBeAskable, labelsOf, METRICS } from './metrics.ts';
import { metricNamesIn, selectorsIn } from './promql.ts';

/** The dashboard that the platform team imports. */

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: unknown;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } };
  readonly targets?: readonly { refId: string; datasource: unknown; expr: string; legendFormat: string }[];
}

const { panels, templating, annotations, ...dashboard } = JSON.parse(
  readFileSync(join(ROOT, 'deploy/grafana-dashboard.json'), 'utf8'),
);
const all: readonly Panel[] = panels;
const charts = all.filter(({ type }) => type !== 'row');
/** What Grafana puts in before it asks. */
const asked = (expression: string) => expression.replaceAll('$__rate_interval', '5m');
const expressions = charts.flatMap(({ targets = [] }) => targets.map(({ expr }) => asked(expr)));

describe('the dashboard', () => {
  test('can be imported as it is: it asks which Prometheus to use, and brings no id of another Grafana', () => {
    expect(templating.list[0]).toMatchObject({ name: 'datasource', type: 'datasource', query: 'prometheus' });
    expect(dashboard).toMatchObject({ uid: 'device-trust', title: 'Device trust' });
    expect(dashboard).not.toHaveProperty('id');
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana fills it in.
    const datasource = { type: 'prometheus', uid: '${datasource}' };
    for (const chart of charts) {
      expect([chart.datasource, ...(chart.targets ?? []).map((target) => target.datasource)]).toEqual(
        Array(1 + (chart.targets?.length ?? 0)).fill(datasource),
      );
    }
  });

  test('has variables for the version, the instance and the region, which ask for labels that exist', () => {
    const [, ...variables] = templating.list;
    expect(variables.map(({ name }: { name: string }) => name)).toEqual(['version', 'instance', 'region']);
    for (const { query, multi, includeAll } of variables) {
      const [, series = '', label = ''] = /^label_values\((.+), (\w+)\)$/.exec(query.query) ?? [];
      expectToBeAskable(`count by (${label}) (${series})`);
      expect([multi, includeAll]).toEqual([true, true]);
    }
  });

  test('marks when a version appears', () => {
    expect(annotations.list).toHaveLength(1);
    const [{ expr, enable }] = annotations.list;
    expectToBeAskable(expr);
    expect([metricNamesIn(expr), enable]).toEqual([['device_trust_build_info'], true]);
  });

  test('shows what was chosen, except where it compares with a time in which other replicas ran', () => {
    const compares = /\[(1h|6h|30d)\]/;
    for (const expression of expressions) {
      const isOfAll = compares.test(expression) && !expression.includes('$instance');
      if (!isOfAll) expect(selectorsIn(expression).filter((one) => !one.includes('instance=~"$instance"'))).toEqual([]);
      const regional = selectorsIn(expression).filter((one) => labelsOf(one).includes('region'));
      expect(regional.filter((one) => !one.includes('region=~"$region"'))).toEqual([]);
    }
    expect(expressions.filter((expression) => !expression.includes('$instance'))).toHaveLength(8);
  });

  test('has panels that stand beside each other, each with an id of its own', () => {
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const cells = all.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    for (const { gridPos } of all) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
  });

  test('shows every metric that there is, and looks at each that an alert does', () => {
    const shown = new Set(expressions.flatMap(metricNamesIn));
    const bases = [...shown].map((name) => name.replace(/_(bucket|count)$/, ''));
    expect(Object.keys(METRICS).filter((name) => !bases.includes(name))).toEqual([]);
    expect(ALERTS.flatMap(({ expr }) => metricNamesIn(expr)).filter((name) => !shown.has(name))).toEqual([]);
  });
});

describe.each(charts)('$title', ({ description = '', fieldConfig, targets = [] }) => {
  test('reads only series that exist', () => {
    expect(targets.length).toBeGreaterThan(0);
    for (const { expr } of targets) expectToBeAskable(asked(expr));
  });

  test('has a description, a unit and a legend', () => {
    expect(description).toMatch(/^[A-Zhp].*\.$/);
    expect(['short', 'ops', 'reqps', 's', 'percentunit', 'bytes']).toContain(fieldConfig?.defaults.unit);
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length);
    for (const { legendFormat } of targets) expect(legendFormat).not.toBe('');
  });
});
