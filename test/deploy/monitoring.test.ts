import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ERROR_CATALOGUE } from '../../src/errors.ts';
import { readPage } from '../docs/markdown.ts';
import { startInSandboxMode } from '../support/app.ts';
import { solveChallenge } from '../support/challenges.ts';
import { CAPTCHA_MUTATION, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ROOT } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { ALERTS, OPEN_PANELS, PANELS, QUERIES } from './monitoring.ts';

/** What the alerts, the dashboard and the autoscaler ask for is what a running app has. */

// With a quota and a trusted header, whose metrics are there only if these are configured.
const app = await startInSandboxMode({
  fingerprintQuota: { perDay: 1_000 },
  trustedHeaders: { metadata: { ja4: { header: 'x-ja4' } } },
});
afterAll(() => app.stop());
await ask(app.graphqlUrl, FINGERPRINT_QUERY, { token: 'sandbox:android:EMULATOR' });
await ask(app.graphqlUrl, CAPTCHA_MUTATION, { input: await solveChallenge(String(app.sandboxUrls?.GLB)) });

/** The labels of each series, by its name. */
const labelsOf = new Map([['up', new Set<string>()]]);
for (const [, name = '', labels = ''] of (await (await fetch(app.metricsUrl)).text()).matchAll(
  /^(\w+)(?:\{(.*)\})? /gm,
)) {
  const known = labelsOf.get(name) ?? new Set();
  for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
  labelsOf.set(name, known);
}
/** What Prometheus adds to every series, a region too if the scrape says so, and the name and state of an alert. */
const OF_PROMETHEUS = ['job', 'instance', 'region', 'alertname', 'alertstate'];

const namesIn = (query: string) => query.match(/\b(?:device_trust|nodejs|process)_\w+|\bup\b/g) ?? [];
const all = [...ALERTS.map(({ expr }) => expr), ...QUERIES];

test.each(all)('each series and label of an expression is a metric of ours: %s', (query) => {
  const names = namesIn(query);
  expect(names.filter((name) => !labelsOf.has(name))).toEqual([]);
  const selected = [...query.matchAll(/(\w+)\s*(?:=~?|!=|!~)\s*"/g)].map(([, label]) => label);
  const grouped = [...query.matchAll(/\b(?:by|on|without|ignoring)\s*\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  );
  const known = [...OF_PROMETHEUS, ...names.flatMap((name) => [...(labelsOf.get(name) ?? [])])];
  expect(names).not.toEqual([]);
  expect([...selected, ...grouped].filter((label) => label && !known.includes(label))).toEqual([]);
  const codes = [...query.matchAll(/\bcode[=!]~?"([^"]*)"/g)].flatMap(([, list = '']) => list.split('|'));
  expect(codes.filter((code) => !(code in ERROR_CATALOGUE))).toEqual([]);
});

/** Every metric of ours: of a histogram, its name without the suffixes of its series. */
const OURS = [...new Set([...labelsOf.keys()].map((name) => name.replace(/_(bucket|sum|count)$/, '')))].filter((name) =>
  name.startsWith('device_trust_'),
);

test('the rules for Prometheus Operator are those of alerts.yaml', async () => {
  const [rule, alerts] = await Promise.all(
    ['kubernetes/components/prometheus-operator/prometheus-rule.yaml', 'alerts.yaml'].map(async (file) =>
      parse(await readFile(join(ROOT, 'deploy', file), 'utf8')),
    ),
  );
  expect(rule.spec.groups).toEqual(alerts.groups);
});

test('the dashboard shows every metric of ours', () => {
  const shown = new Set(QUERIES.flatMap(namesIn).map((name) => name.replace(/_(bucket|sum|count)$/, '')));
  expect(OURS.filter((name) => !shown.has(name))).toEqual([]);
});

test('the dashboard closes the row of each metric of one service alone', () => {
  const open = new Set(OPEN_PANELS.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => namesIn(expr))));
  const ofOne = /captcha|attestation|fingerprint|signals|decisions|judgements|catalogue|reports|metadata/;
  expect([...open].filter((name) => ofOne.test(name))).toEqual([]);
});

test('the runbook has a section for each alert, to which it leads, with panels of the dashboard', () => {
  const page = readPage('deploy/runbook.md');
  expect([...page.text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual(
    ALERTS.map(({ alert }) => alert),
  );
  for (const { alert, annotations } of ALERTS)
    expect(annotations['runbook_url']).toBe(`deploy/runbook.md#${alert.toLowerCase()}`);
  const named = [...page.text.matchAll(/^Panels: (.+)$/gm)].flatMap(([, list = '']) => list.split(' · '));
  const titles = PANELS.map(({ title }) => `*${title}*`);
  expect(named.filter((title) => !titles.includes(title))).toEqual([]);
});
