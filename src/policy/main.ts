import { readFileSync } from 'node:fs';
import { DEFAULT_POLICY } from '../fingerprint/default-policy.ts';
import type { RiskPolicy } from '../fingerprint/policy.ts';
import { loadPolicy, PolicyError } from '../fingerprint/policy-file.ts';
import { explain } from './explanation.ts';

/** Explains a risk policy before it is used: `npm run policy -- FILE`, or without a file the built-in one. */

function refuse(path: string, problems: readonly string[]): never {
  process.stderr.write(
    `${path} is no policy that can be used:\n${problems.map((problem) => `  ${problem}\n`).join('')}`,
  );
  process.exit(1);
}

function read(path: string): RiskPolicy {
  try {
    return loadPolicy(path, (file) => readFileSync(file, 'utf8'));
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return refuse(path, error.problems);
  }
}

const [path] = process.argv.slice(2);
process.stdout.write(path === undefined ? explain(DEFAULT_POLICY, 'built in') : explain(read(path), path));
