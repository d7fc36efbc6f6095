import { ConfigError, readVariables, unusedNames } from './config/parser.ts';
import { startSandbox } from './sandbox/server.ts';
import { listenProblem } from './settings/summary.ts';
import { VARIABLES } from './settings/variables.ts';

/** The sandbox as a process of its own, to develop and to test against both upstream services. */

try {
  const table = { host: VARIABLES.host, port: VARIABLES.sandboxPort };
  // Neither variable is a secret, so no file is read.
  const { host, port } = readVariables(process.env, String, table, () => {});
  const unused = unusedNames(process.env, {});
  if (unused.length > 0) process.stderr.write(`These variables have no effect: ${unused.join(', ')}.\n`);
  const { urls, stop } = await startSandbox({ host, port });
  for (const [region, url] of Object.entries(urls)) process.stdout.write(`Sandbox of region ${region}: ${url}\n`);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop().then(() => process.exit(0)));
} catch (error) {
  const problem =
    error instanceof ConfigError ? error.message : listenProblem(error, { host: process.env['HOST'] ?? '' });
  if (problem === undefined) throw error;
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
}
