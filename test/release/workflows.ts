import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../support/process.ts';

/** The parts of a workflow that the tests compare. */
export interface Workflow {
  readonly file: string;
  readonly text: string;
  readonly permissions: unknown;
  readonly concurrency: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

export interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly 'timeout-minutes'?: number;
  readonly environment?: string;
  readonly container?: { readonly image: string };
  /** Another workflow, instead of steps. */
  readonly uses?: string;
  readonly steps?: readonly Step[];
}

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

export const WORKFLOWS: readonly Workflow[] = globSync('.github/workflows/*.yml', { cwd: ROOT })
  .sort()
  .map((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return { file, text, ...parse(text) };
  });

/** Every job with the name of its workflow's file before its own. */
export const JOBS: readonly (readonly [string, Job])[] = WORKFLOWS.flatMap(({ file, jobs }) =>
  Object.entries(jobs).map(([name, job]) => [`${file.split('/').at(-1)} ${name}`, job] as const),
);
