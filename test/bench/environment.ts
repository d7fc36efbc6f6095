import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './children.ts';

/** What the figures depend on. */
export interface Environment {
  readonly date: string;
  /** The commit, with a plus sign if files were changed since; undefined outside of a repository. */
  readonly commit: string | undefined;
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  /** Processes that wanted a core in the minute before: far above 0, others took part in what is measured. */
  readonly loadBefore: number;
  /** Whether each side had a core of its own, in words. */
  readonly placement: string;
  readonly packages: Readonly<Record<string, string>>;
  /** Node's own undici, which only its `fetch` uses. */
  readonly undiciOfNode: string;
  /** Which size of run this was. */
  readonly size: string;
}

const PACKAGES = [
  'graphql',
  'undici',
  '@apollo/server',
  '@apollo/subgraph',
  'fastify',
  'mercurius',
  'graphql-jit',
  'graphql-yoga',
];

export function describeEnvironment(placement: string, size: string): Environment {
  return {
    date: new Date().toISOString(),
    commit: commit(),
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    loadBefore: loadavg()[0] ?? Number.NaN,
    placement,
    packages: Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)])),
    undiciOfNode: process.versions['undici'] ?? 'unknown',
    size,
  };
}

function versionOf(name: string): string {
  return JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')).version;
}

function commit(): string | undefined {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).trim();
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : '+');
  } catch {
    return undefined;
  }
}

/**
 * Makes sure that the build contains the undici of `node_modules`, whose version the report prints.
 *
 * @throws Error if it does not
 */
export function checkBuiltUndici(): void {
  const parts = globSync('dist/server/*.js', { cwd: ROOT }).map((file) => readFileSync(join(ROOT, file), 'utf8'));
  if (!parts.some((text) => text.includes('// node_modules/undici/lib/dispatcher/pool.js'))) {
    throw new Error('the build does not contain the pool of the package undici: "npm run bench" builds it');
  }
}
