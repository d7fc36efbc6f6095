import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from 'vitest';

/**
 * Who may import whom in `src/`: arrows point down, and there is no cycle. Imports of types count like any other. And what
 * `npm test` and `npm run supergraph` do without.
 */

const SRC = join(import.meta.dirname, '../src');
const files = globSync('**/*.ts', { cwd: SRC }).map((file) => file.replaceAll('\\', '/'));
const textOf = (file: string) => readFileSync(join(SRC, file), 'utf8');

/** For each folder, and each file beside the folders, what it may import of ours: a folder, or one file of a folder. */
const RULES = `
  errors, schema.generated, runtime, explorer:
  config: runtime
  callers: config, schema.generated
  observability: config, runtime, errors
  upstream: callers, observability, config, runtime, errors
  graphql: callers, upstream, observability, config, runtime, errors
  server: graphql, callers, observability, upstream, config, runtime, errors
  slice: callers, graphql/context, upstream, observability, config
  fingerprint, captcha: slice, callers, graphql/context, graphql/type-defs, upstream, observability, config, runtime, errors, schema.generated
  slices: slice, fingerprint/slice, captcha/slice
  generate-keys: captcha/attestation, fingerprint/sealed-judgement
  settings: slice, slices, callers/limits, callers/identity, callers/settings, server/settings, graphql/settings, graphql/scopes, upstream/settings, observability/settings, config, runtime
  sandbox: fingerprint/contract, fingerprint/settings, fingerprint/signal-catalogue, captcha/contract, captcha/settings, upstream/settings, runtime
  start-sandbox: sandbox, settings, config
  app: callers, settings, slice, slices, graphql/schema, explorer, observability, runtime, sandbox, server, upstream
  explain-policy: fingerprint/policy, fingerprint/policy-report, fingerprint/signal-catalogue, runtime/json
  plugins: graphql/context
  main: app, plugins, slice, slices, config, settings, errors, observability/logger, observability/settings
  entry: main
`;
const namesIn = (list = '') => list.split(',').flatMap((name) => name.trim() || []);
const MAY_IMPORT = new Map(
  [...RULES.matchAll(/^ {2}(\S[^:]*):((?:.|\n {4})*)/gm)].flatMap(([, parts, allowed]) =>
    namesIn(parts).map((part) => [part, namesIn(allowed)] as const),
  ),
);

const partOf = (file: string) => file.replace(/\.ts$/, '').split('/')[0] ?? '';

/** Paths below `src/`, without `.ts`, of everything of ours that a file imports. */
const imports = new Map(
  files.map((file) => [
    file.replace(/\.ts$/, ''),
    [...textOf(file).matchAll(/(?:from|import\() ?'(\.[^']+)\.ts'/g)].map(([, specifier = '']) =>
      posix.join(posix.dirname(file), specifier),
    ),
  ]),
);

test('imports: each folder has its rule, and imports nothing else', () => {
  expect([...new Set(files.map(partOf))].sort()).toEqual([...MAY_IMPORT.keys()].sort());
  const forbidden = [...imports].flatMap(([file, targets]) => {
    const allowed = [partOf(file), ...(MAY_IMPORT.get(partOf(file)) ?? [])];
    const others = targets.filter((target) => !allowed.some((rule) => `${target}/`.startsWith(`${rule}/`)));
    return others.map((target) => `${file} imports ${target}`);
  });
  expect(forbidden).toEqual([]);
});

test('imports have no cycle', () => {
  const done = new Set<string>();
  function visit(file: string, path: readonly string[]): void {
    if (path.includes(file)) expect.fail(`a cycle: ${[...path.slice(path.indexOf(file)), file].join(' > ')}`);
    if (done.has(file)) return;
    for (const next of imports.get(file) ?? expect.fail(`there is no src/${file}.ts`)) visit(next, [...path, file]);
    done.add(file);
  }
  for (const file of imports.keys()) visit(file, []);
  expect(done.size).toBe(files.length);
});

test('`npm test` and `npm run supergraph` import nothing of test/on-demand/, whose packages `npm ci` leaves out', () => {
  const starts = globSync(['*/**/*.test.ts', 'supergraph/main.ts'], {
    cwd: import.meta.dirname,
    exclude: ['**/node_modules/**', '**/*.all.test.ts'],
  });
  expect(starts.length).toBeGreaterThan(100);
  const reached = new Set(starts.map((file) => join(import.meta.dirname, file)));
  // A set also goes through what is added meanwhile.
  for (const file of reached) {
    // Imports of types need no package at run time.
    const targets = readFileSync(file, 'utf8').matchAll(
      /(?:^(?:import (?!type)|\}).*from|import\() ?'(\.[^']+\.ts)'/gm,
    );
    for (const [, target = ''] of targets) reached.add(join(file, '..', target));
  }
  expect([...reached].filter((file) => file.includes('on-demand'))).toEqual([]);
});

test('the environment is read by the two files that start a process alone', () => {
  const reads = /process\.env|\benv\b[^;]*from 'node:process'|getBuiltinModule\('node:process'\)/;
  expect(files.filter((file) => reads.test(textOf(file))).sort()).toEqual(['main.ts', 'start-sandbox.ts']);
});
