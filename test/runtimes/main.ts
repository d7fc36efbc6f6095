import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../support/process.ts';

/**
 * `npm run test:runtimes`: the tests on every Node that the server is meant for, each from npm. The oldest that
 * package.json allows, the newest of the line before the image's, and the one of the image. Among the tests is one that
 * builds and starts what `npm start` does. Left out are those that try something else than the server (our neighbours and a
 * browser, the manifests, the benchmark, the capacity, the soak), and those by which thousands of made-up inputs try our own logic. With
 * `--others` the Node that runs this is left out, for who has run `npm test` on it.
 */

const { engines, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const RUNTIMES: readonly string[] = [engines.node.replace('>=', ''), '24', devDependencies.node];
const OTHER_SUBJECTS = ['supergraph/**', 'deploy/**', 'bench/**', 'capacity/**', 'soak/**'];
const MADE_UP = ['faults/*properties.test.ts', 'graphql/compile.test.ts'];
const EXCLUDED = [...OTHER_SUBJECTS, ...MADE_UP].flatMap((files) => ['--exclude', files]);
const VITEST = ['node_modules/vitest/vitest.mjs', 'run', ...EXCLUDED];

/** The version and the path of a Node from npm. */
async function fetchNode(wanted: string): Promise<{ version: string; path: string }> {
  const print = 'process.version.slice(1) + " " + process.execPath';
  const { stdout } = await promisify(execFile)('npx', ['-y', `node@${wanted}`, '-p', print], {
    cwd: ROOT,
    timeout: 300_000,
  });
  const [version = '', path = ''] = stdout.trim().split(' ');
  if (version !== wanted && !version.startsWith(`${wanted}.`)) throw new Error(`Node ${wanted} is ${version}.`);
  return { version, path };
}

const results: string[] = [];
for (const wanted of RUNTIMES) {
  if (process.argv.includes('--others') && process.version === `v${wanted}`) continue;
  const { version, path } = await fetchNode(wanted);
  const start = performance.now();
  const [code] = await once(spawn(path, VITEST, { cwd: ROOT, stdio: 'inherit', timeout: 600_000 }), 'exit');
  const seconds = Math.round((performance.now() - start) / 1_000);
  if (code !== 0) process.exitCode = 1;
  results.push(`Node ${version}: ${code === 0 ? 'passed' : 'FAILED'} in ${seconds} s\n`);
}
process.stdout.write(results.join(''));
