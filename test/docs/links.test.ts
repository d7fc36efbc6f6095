import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/process.ts';
import { readPage } from './markdown.ts';

/** A reader who follows a link arrives somewhere. */

const PAGES = [
  'README.md',
  'schema/README.md',
  'deploy/README.md',
  'deploy/runbook.md',
  'deploy/router/README.md',
  'src/README.md',
  'src/sandbox/README.md',
  'test/README.md',
  'test/bench/README.md',
  'test/soak/README.md',
  'CHANGELOG.md',
  '.github/CONTRIBUTING.md',
  '.github/SECURITY.md',
];

/** As GitHub names the anchor of a heading. */
function anchorsOf(file: string): string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-'),
  );
}

test.each(PAGES)('in %s each link to a file or a heading of this project leads there', (path) => {
  const links = [...readPage(path).prose.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link);
  const broken = links
    .filter((link) => !link.startsWith('https://'))
    .filter((link) => {
      const [target = '', anchor] = link.split('#');
      const file = target === '' ? join(ROOT, path) : join(ROOT, dirname(path), target);
      if (!existsSync(file)) return true;
      return anchor !== undefined && !anchorsOf(file).includes(anchor);
    });
  expect(broken).toEqual([]);
});
