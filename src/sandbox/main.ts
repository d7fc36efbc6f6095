import { unknownNames } from '../config/names.ts';
import { listenProblem } from '../config/rules.ts';
import { expectedBut } from '../config/values.ts';
import { VARIABLES } from '../config/variables.ts';
import { startSandbox } from './server.ts';

/** The sandbox as a process of its own, to develop against both upstream services. */

function refuseToStart(sentences: readonly string[]): never {
  process.stderr.write(sentences.map((sentence) => `${sentence}\n`).join(''));
  process.exit(1);
}

const { name, expected, schema, default: fallback } = VARIABLES.sandboxPort;
const port = schema.safeParse(process.env[name] || fallback);
const unknown = unknownNames(process.env);
if (!port.success) refuseToStart([...unknown, expectedBut(name, expected, JSON.stringify(process.env[name]))]);
if (unknown.length > 0) refuseToStart(unknown);

const sandbox = await startSandbox({ port: port.data }).catch((error: unknown) => {
  const problem = listenProblem(error);
  if (problem === undefined) throw error;
  return refuseToStart([problem]);
});
for (const [region, url] of Object.entries(sandbox.urls)) process.stdout.write(`Sandbox of region ${region}: ${url}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => sandbox.stop().then(() => process.exit(0)));
}
