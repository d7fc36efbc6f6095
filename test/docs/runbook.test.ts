import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ALERTS } from '../deploy/alerts.ts';
import { ROOT } from '../support/process.ts';
import { readPage } from './markdown.ts';

/** Each alert leads to a row and a section of the runbook, which says what the alert says, and where to look. */

const page = readPage('deploy/runbook.md');
const dashboard = JSON.parse(readFileSync(join(ROOT, 'deploy/grafana-dashboard.json'), 'utf8'));
const titles: readonly string[] = dashboard.panels.map(({ title }: { title: string }) => title);

const sections = page.text
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [heading = '', what = '', panels = ''] = section.split(/\n\n/).map((part) => part.trim());
    return { heading, what: what.replaceAll('\n', ' '), panels };
  });

test('the table has every alert, with its severity and who has to act', () => {
  expect(page.rowsOf('alert', 'severity', 'side').map((row) => row.slice(0, 3))).toEqual(
    ALERTS.map(({ alert, labels }) => [`[\`${alert}\`](#${alert.toLowerCase()})`, labels['severity'], labels['side']]),
  );
});

test('there is one section for each alert, in the same order', () => {
  expect(sections.map(({ heading }) => heading)).toEqual(ALERTS.map(({ alert }) => alert));
});

describe.each(ALERTS)('$alert', ({ alert, annotations }) => {
  const section = sections.find(({ heading }) => heading === alert);

  test('leads to its section', () => {
    // GitHub and GitLab make the anchor of a heading of one word from its letters in lower case.
    expect(annotations['runbook_url']).toBe(`deploy/runbook.md#${alert.toLowerCase()}`);
  });

  test('says what its section says', () => {
    expect(section?.what).toBe(annotations['runbook']);
  });

  test('has panels that are on the dashboard', () => {
    expect(section?.panels).toMatch(/^Panels: \*[^*]+\*( · \*[^*]+\*)*$/);
    const named = [...(section?.panels.matchAll(/\*([^*]+)\*/g) ?? [])].map(([, title]) => title);
    expect(named.filter((title) => !titles.includes(title ?? ''))).toEqual([]);
  });
});
