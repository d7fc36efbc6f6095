import { readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './children.ts';

/** What the figures depend on. */
export interface Environment {
  readonly date: string;
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  /** Processes that wanted a core in the minute before: far above 0, others took part in what is measured. */
  readonly loadBefore: number;
  /** Whether each side had a core of its own, in words. */
  readonly placement: string;
  readonly packages: Readonly<Record<string, string>>;
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
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    loadBefore: loadavg()[0] ?? Number.NaN,
    placement,
    packages: Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)])),
    size,
  };
}

function versionOf(name: string): string {
  return JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')).version;
}
