import { ConfigError, readVariables, unusedNames } from './config/parser.ts';
import { startSandbox } from './sandbox/server.ts';
import { listenProblem } from './settings/summary.ts';
import { VARIABLES } from './settings/variables.ts';

/** The sandbox as a process of its own, to develop and to test against both upstream services. */

function refuseToStart(sentences: readonly string[]): never {
  process.stderr.write(sentences.map((sentence) => `${sentence}\n`).join(''));
  process.exit(1);
}

function readAll() {
  const { host, sandboxPort } = VARIABLES;
  try {
    // Neither variable is a secret, so no file is read.
    return readVariables(process.env, String, { host, sandboxPort }, () => {});
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return refuseToStart(error.problems);
  }
}

const { host, sandboxPort: port } = readAll();
const unused = unusedNames(process.env, {});
if (unused.length > 0) process.stderr.write(`These variables have no effect: ${unused.join(', ')}.\n`);

const sandbox = await startSandbox({ host, port }).catch((error: unknown) => {
  const problem = listenProblem(error, { host });
  if (problem === undefined) throw error;
  return refuseToStart([problem]);
});
for (const [region, url] of Object.entries(sandbox.urls)) process.stdout.write(`Sandbox of region ${region}: ${url}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => sandbox.stop().then(() => process.exit(0)));
