import { execFileSync } from 'node:child_process';
import { ROOT } from '../support/process.ts';

/** Makes what the tests of the process start. Vitest runs this once, if such a test is run. */
export function setup(): void {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'inherit' });
}
