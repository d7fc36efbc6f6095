import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';

/** Who may import whom in `src/`: arrows point down, and there is no cycle. Imports of types count like any other. */

const SRC = join(import.meta.dirname, '../src');
const files = globSync('**/*.ts', { cwd: SRC }).map((file) => file.replaceAll('\\', '/'));
const textOf = (file: string) => readFileSync(join(SRC, file), 'utf8');

/** For each folder, and each file beside the folders, what it may import of ours: a folder, or one file of a folder. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  'schema.generated': [],
  runtime: [],
  config: [],
  upstream: ['runtime', 'errors'],
  fingerprint: ['upstream', 'runtime', 'errors', 'schema.generated'],
  captcha: ['upstream', 'runtime', 'errors', 'schema.generated'],
  graphql: ['fingerprint', 'captcha', 'upstream', 'runtime', 'errors', 'schema.generated'],
  // What it counts and traces is declared where it happens.
  observability: [
    'captcha/attestation-refusals',
    'fingerprint/drift',
    'fingerprint/judgement-outcomes',
    'upstream/bulkhead',
    'upstream/health',
    'upstream/finding',
    'upstream/quota',
    'upstream/call-context',
    'runtime',
    'errors',
  ],
  explorer: [],
  keys: ['captcha/attestation-keys', 'fingerprint/sealing-key'],
  server: ['graphql', 'observability', 'upstream', 'runtime', 'errors'],
  // What the two documents say, and nothing that acts on it; its main reads one variable.
  sandbox: ['fingerprint/contract', 'fingerprint/signals', 'captcha/contract', 'runtime', 'config'],
  'sandbox-mode': ['config', 'captcha', 'explorer', 'fingerprint/sealing-key', 'sandbox', 'server'],
  'service-client': ['config', 'observability', 'upstream'],
  app: [
    'config',
    'captcha',
    'errors',
    'explorer',
    'fingerprint',
    'graphql',
    'observability',
    'runtime',
    'sandbox',
    'sandbox-mode',
    'server',
    'service-client',
    'upstream',
  ],
  // An app of its own, with the sandbox as its upstreams, and a client that asks it.
  'warm-up': [
    'app',
    'captcha/attestation-keys',
    'config',
    'errors',
    'fingerprint/default-policy',
    'fingerprint/sealing-key',
    'observability/logger',
    'observability/metrics',
    'runtime',
    'sandbox',
    'sandbox-mode',
    'upstream',
  ],
  // Its main prints what a policy decides.
  policy: [
    'fingerprint/default-policy',
    'fingerprint/policy',
    'fingerprint/policy-file',
    'fingerprint/signal-set',
    'fingerprint/signals',
    'schema.generated',
  ],
  main: [
    'app',
    'config',
    'errors',
    'fingerprint/default-policy',
    'fingerprint/policy',
    'fingerprint/policy-file',
    'observability/logger',
    'warm-up',
  ],
};

const partOf = (file: string) => file.replace(/\.ts$/, '').split('/')[0] ?? '';

/** Paths below `src/`, without `.ts`, of everything of ours that a file imports. */
function importsOf(file: string): string[] {
  const specifiers = [...textOf(file).matchAll(/(?:from|import\() ?'(\.[^']+\.ts)'/g)].map(
    ([, specifier = '']) => specifier,
  );
  return specifiers.map((specifier) => posix.join(posix.dirname(file), specifier).replace(/\.ts$/, ''));
}

/** The files of one import cycle, first and last the same; undefined if there is none. */
function findCycle(importsFrom: (module: string) => readonly string[], modules: readonly string[]) {
  const done = new Set<string>();
  function visit(module: string, path: readonly string[]): readonly string[] | undefined {
    if (path.includes(module)) return [...path.slice(path.indexOf(module)), module];
    if (done.has(module)) return undefined;
    for (const next of importsFrom(module)) {
      const cycle = visit(next, [...path, module]);
      if (cycle) return cycle;
    }
    done.add(module);
    return undefined;
  }
  for (const module of modules) {
    const cycle = visit(module, []);
    if (cycle) return cycle;
  }
  return undefined;
}

describe('who may import whom', () => {
  test('every folder has its rule', () => {
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

  test('there is no import cycle', () => {
    expect(
      findCycle(
        (module) => importsOf(`${module}.ts`),
        files.map((file) => file.replace(/\.ts$/, '')),
      ),
    ).toBeUndefined();
  });

  test('a cycle would be found, and so would a forbidden import of a type', () => {
    const imports: Readonly<Record<string, readonly string[]>> = { a: ['b'], b: ['c'], c: ['b'] };
    expect(findCycle((module) => imports[module] ?? [], ['a'])).toEqual(['b', 'c', 'b']);
    expect(textOf('upstream/call.ts')).toMatch(/import type .*bulkhead/);
    expect(importsOf('upstream/call.ts')).toContain('upstream/bulkhead');
  });
});

describe('limits of a file', () => {
  test.each(files.filter((file) => !['main.ts', 'sandbox/main.ts'].includes(file)))('no environment in %s', (file) => {
    expect(textOf(file)).not.toMatch(/process\.env/);
  });

  test.each(files.filter((file) => !file.endsWith('.generated.ts')))('%s has at most 200 lines', (file) => {
    expect(textOf(file).split('\n').length).toBeLessThanOrEqual(201);
  });

  test('app.ts is wiring: it has at most 160 lines, and no file on the path of a request imports it', () => {
    expect(textOf('app.ts').split('\n').length).toBeLessThanOrEqual(161);
    expect(files.filter((file) => importsOf(file).includes('app')).sort()).toEqual(['main.ts', 'warm-up/stage.ts']);
  });
});
