import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ALERTS } from '../deploy/alerts.ts';
import { ROOT } from '../support/process.ts';

/** Each alert leads to a section of the operator's page, which says what the alert says, and where to look. */

const text = readFileSync(join(ROOT, 'deploy/README.md'), 'utf8');
const dashboard = JSON.parse(readFileSync(join(ROOT, 'deploy/grafana-dashboard.json'), 'utf8'));
const titles: readonly string[] = dashboard.panels.map(({ title }: { title: string }) => title);

const [, runbook = ''] = /^## Runbook\n(.*?)^## /ms.exec(text) ?? [];
const sections = runbook
  .split(/^### /m)
  .slice(1)
  .map((section) => {
    const [heading = '', what = '', panels = ''] = section.split(/\n\n/).map((part) => part.trim());
    return { heading, what: what.replaceAll('\n', ' '), panels };
  });

test('there is one section for each alert, in the same order', () => {
  expect(sections.map(({ heading }) => heading)).toEqual(ALERTS.map(({ alert }) => alert));
});

describe.each(ALERTS)('$alert', ({ alert, annotations }) => {
  const section = sections.find(({ heading }) => heading === alert);

  test('leads to its section', () => {
    // GitHub and GitLab make the anchor of a heading of one word from its letters in lower case.
    expect(annotations['runbook_url']).toBe(`deploy/README.md#${alert.toLowerCase()}`);
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
