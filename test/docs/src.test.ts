import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../support/process.ts';
import { codeIn, type Page, readPage } from './markdown.ts';

/** What the developer's page says is true: its tables and its commands; and the paths of every page. */

const page = readPage('src/README.md');
const { scripts, dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

describe('folders', () => {
  const rows = page.rowsOf('folder or file', 'what is in it', 'may import');
  const nameOf = (cell = '') => cell.replace(/`|\/|\.ts/g, '');

  test('each has its row', () => {
    const present = readdirSync(join(ROOT, 'src')).filter((name) => name !== 'README.md');
    expect(rows.map(([folder]) => nameOf(folder)).sort()).toEqual(present.map((name) => nameOf(name)).sort());
  });

  // Which files of a folder may be imported, `test/imports.test.ts` says.
  test.each(rows.filter(([, , allowed]) => allowed !== 'all below'))(
    '%s imports nothing but what its row allows',
    (folder, _what, allowed = '') => {
      const own = nameOf(folder);
      const files = globSync([`${own}.ts`, `${own}/**/*.ts`], { cwd: join(ROOT, 'src') });
      expect(files).not.toEqual([]);
      const imported = files.flatMap((file) => {
        const specifiers = readFileSync(join(ROOT, 'src', file), 'utf8').matchAll(
          /(?:from|import\() ?'(\.[^']+\.ts)'/g,
        );
        return [...specifiers].map(
          ([, specifier = '']) => posix.join(posix.dirname(file), specifier).replace(/\.ts$/, '').split('/')[0],
        );
      });
      const others = new Set(imported.filter((name) => name !== own));
      const extra = own === 'sandbox' ? ['fingerprint', 'captcha'] : [];
      expect([...others].filter((name) => ![...codeIn(allowed), ...extra].includes(name ?? ''))).toEqual([]);
    },
  );
});

test('dependencies: every package', () => {
  const documented = page.rowsOf('package', 'why, and what it saves us').flatMap(([packages = '']) => codeIn(packages));
  const packages = Object.keys({ ...dependencies, ...devDependencies });
  const fits = (name: string, pattern: string) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  expect(packages.filter((name) => !documented.some((pattern) => fits(name, pattern)))).toEqual([]);
  expect(documented.filter((pattern) => !packages.some((name) => fits(name, pattern)))).toEqual([]);
});

describe('names', () => {
  const pages = [
    'README.md',
    'schema/README.md',
    'deploy/README.md',
    'deploy/runbook.md',
    'src/README.md',
    'test/README.md',
  ];

  test('every script is in one of the pages', () => {
    const text = [...pages, 'test/bench/README.md', 'test/soak/README.md'].map((path) => readPage(path).text).join();
    const wanted = Object.keys(scripts).filter((name) => !name.startsWith('pre'));
    expect(wanted.filter((name) => !new RegExp(`npm (run )?${name}\\b(?!:)`).test(text))).toEqual([]);
  });

  test.each(pages)('%s names no script that is not there', (path) => {
    const named = [...readPage(path).text.matchAll(/npm (?:run )?([a-z][a-z:]*)/g)].map(([, script = '']) => script);
    const ours = named.filter((word) => !['ci', 'audit'].includes(word));
    expect(ours.filter((script) => !(script in scripts))).toEqual([]);
  });

  test.each(pages)('%s names no path that is not there', (path) => {
    // From the root, from `src/`, or beside the page.
    const folders = ['', 'src', dirname(path)];
    const missing = pathsIn(readPage(path)).filter(
      (named) => !folders.some((folder) => existsSync(join(ROOT, folder, named))),
    );
    expect(missing).toEqual([]);
  });
});

/** What a reader makes or builds, so that it is not in the repository. */
const MADE_LATER = ['dist/', 'log.json', 'secret.yaml'];

/** Paths of files and folders in the prose of a page. */
function pathsIn({ prose }: Page): string[] {
  const isPath = /^[\w.-]+(\/[\w.-]+)*(\/|\.(ts|graphql|yaml|json))$/;
  return [...new Set(codeIn(prose))].filter(
    (code) => isPath.test(code) && !MADE_LATER.some((path) => code.startsWith(path)),
  );
}
