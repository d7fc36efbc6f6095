import { unknownNames } from './config/parser.ts';
import { mismatch } from './config/values.ts';
import { startSandbox } from './sandbox/server.ts';
import { listenProblem } from './settings/summary.ts';
import { VARIABLES } from './settings/variables.ts';

/** The sandbox as a process of its own, to develop and to test against both upstream services. */

function refuseToStart(sentences: readonly string[]): never {
  process.stderr.write(sentences.map((sentence) => `${sentence}\n`).join(''));
  process.exit(1);
}

const { sandboxHost, sandboxPort } = VARIABLES;
const host = process.env[sandboxHost.name] || sandboxHost.default;
const port = sandboxPort.schema.safeParse(process.env[sandboxPort.name] || sandboxPort.default);
const mistakes = unknownNames(process.env, VARIABLES);
if (!port.success) {
  const { name, expected } = sandboxPort;
  mistakes.push(mismatch(name, expected, JSON.stringify(process.env[name])));
}
if (!port.success || mistakes.length > 0) refuseToStart(mistakes);

const sandbox = await startSandbox({ host, port: port.data }).catch((error: unknown) => {
  const problem = listenProblem(error, { sandboxHost: host });
  if (problem === undefined) throw error;
  return refuseToStart([problem]);
});
for (const [region, url] of Object.entries(sandbox.urls)) process.stdout.write(`Sandbox of region ${region}: ${url}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => sandbox.stop().then(() => process.exit(0)));
