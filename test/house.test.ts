import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';

/** The plan of the house: which part may know which. */

const SRC = join(import.meta.dirname, '../src');
const files = globSync('**/*.ts', { cwd: SRC }).map((file) => file.replaceAll('\\', '/'));
const textOf = (file: string) => readFileSync(join(SRC, file), 'utf8');

/** For each part, what it may import of ours: a folder, or one file of a folder. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  'http-server': [],
  config: [],
  upstream: ['errors'],
  fingerprint: ['upstream', 'errors', 'graphql/types.generated'],
  captcha: ['upstream', 'errors', 'graphql/types.generated'],
  graphql: ['fingerprint', 'captcha', 'upstream/caller', 'errors'],
  server: ['graphql', 'observability', 'upstream/caller', 'errors', 'http-server'],
  observability: ['errors'],
  // The two contracts in the wider sense: what the documents say, and nothing that acts on it.
  sandbox: ['fingerprint/contract', 'fingerprint/signals', 'fingerprint/time', 'captcha/contract', 'http-server'],
  app: ['config', 'captcha', 'fingerprint', 'graphql', 'observability', 'sandbox', 'server', 'upstream'],
  main: ['app', 'config', 'errors', 'observability/logger'],
  'main-sandbox': ['config', 'sandbox'],
};

const partOf = (file: string) => file.replace(/\.ts$/, '').split('/')[0] ?? '';

/** Paths below src, without ending, of everything of ours that a file imports. */
function importsOf(file: string): string[] {
  const specifiers = [...textOf(file).matchAll(/(?:from|import\() ?'(\.[^']+)'/g)].map(
    ([, specifier = '']) => specifier,
  );
  return specifiers.map((specifier) => posix.join(posix.dirname(file), specifier).replace(/\.ts$/, ''));
}

describe('who may import whom', () => {
  test('every part has its rule', () => {
    expect([...new Set(files.map(partOf))].sort()).toEqual(Object.keys(MAY_IMPORT).sort());
  });

  test.each(files)('%s', (file) => {
    const part = partOf(file);
    const allowed = MAY_IMPORT[part] ?? [];
    const forbidden = importsOf(file).filter(
      (target) => partOf(target) !== part && !allowed.some((rule) => target === rule || target.startsWith(`${rule}/`)),
    );
    expect(forbidden).toEqual([]);
  });

  test('the rules see imports at all', () => {
    expect(importsOf('app.ts')).toContain('captcha/client');
    expect(importsOf('server/listener.ts')).toContain('errors');
  });
});

describe('what stands nowhere else', () => {
  test.each(files.filter((file) => !/^main(-sandbox)?\.ts$/.test(file)))('no environment in %s', (file) => {
    expect(textOf(file)).not.toMatch(/process\.env/);
  });

  test.each(files.filter((file) => !file.endsWith('.generated.ts')))('%s has at most 200 lines', (file) => {
    expect(textOf(file).split('\n').length).toBeLessThanOrEqual(201);
  });
});
