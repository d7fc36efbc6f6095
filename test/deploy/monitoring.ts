import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../support/process.ts';

/** What `deploy/` asks Prometheus: the rules of the alerts, the panels of the dashboard, and the figure of the autoscaler. */

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

const read = (file: string) => readFileSync(join(ROOT, 'deploy', file), 'utf8');

export const ALERT_FILE = join(ROOT, 'deploy/alerts.yaml');
export const ALERTS: readonly Alert[] = parse(read('alerts.yaml')).groups.flatMap(
  ({ rules }: { rules: readonly Alert[] }) => rules,
);

const dashboard = JSON.parse(read('grafana-dashboard.json'));
/** The panels with those within the rows of one service, which are closed: such a row shows nothing where that service is off. */
export const PANELS: readonly Panel[] = dashboard.panels
  .flatMap(({ panels = [], ...panel }: Panel & { panels?: readonly Panel[] }) => [panel, ...panels])
  .filter(({ type }: Panel) => type !== 'row');
/** The panels that are always open. */
export const OPEN_PANELS: readonly Panel[] = dashboard.panels.filter(({ type }: Panel) => type !== 'row');
const [{ metricsQuery, seriesQuery }] = parse(read('prometheus-adapter.yaml')).rules.custom;

/** Every other query, with what Grafana and the adapter put in before they ask. */
export const QUERIES: readonly string[] = [
  ...PANELS.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...dashboard.annotations.list.map(({ expr }: { expr: string }) => expr),
  ...dashboard.templating.list.flatMap(({ query }: { query: string | { query: string } }) => {
    // The first variable asks which Prometheus, the others for the values of a label.
    const [, series, label] =
      typeof query === 'string' ? [] : (/^label_values\((.+), (\w+)\)$/.exec(query.query) ?? []);
    return series ? [`count by (${label}) (${series})`] : [];
  }),
  metricsQuery.replaceAll('<<.LabelMatchers>>', 'instance=~"one|other"').replaceAll('<<.GroupBy>>', 'instance'),
  seriesQuery.replace('namespace!="",pod!=""', 'instance!=""'),
].map((query: string) => query.replaceAll('$__rate_interval', '5m'));
