import { isListenError, listenProblems, SANDBOX_HOST, sandboxAddressesOf } from '../config/listening.ts';
import { unknownNames } from '../config/names.ts';
import { expectedBut } from '../config/sentences.ts';
import { VARIABLES } from '../config/variables.ts';
import { startSandbox } from './server.ts';

/** The sandbox as a process of its own, to develop against both upstream services. */

function refuseToStart(sentences: readonly string[]): never {
  process.stderr.write(sentences.map((sentence) => `${sentence}\n`).join(''));
  process.exit(1);
}

const { name, expected, schema, default: fallback } = VARIABLES.sandboxPort;
const port = schema.safeParse(process.env[name] || fallback);
const problems = unknownNames(process.env);
if (!port.success) refuseToStart([...problems, expectedBut(name, expected, JSON.stringify(process.env[name]))]);
if (problems.length > 0) refuseToStart(problems);

const sandbox = await startSandbox({ host: SANDBOX_HOST, port: port.data }).catch(async (error: unknown) => {
  if (!isListenError(error)) throw error;
  return refuseToStart(await listenProblems(sandboxAddressesOf({ sandboxPort: port.data }), error));
});
for (const [region, url] of Object.entries(sandbox.urls)) process.stdout.write(`Sandbox of region ${region}: ${url}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    sandbox.stop().then(() => process.exit(0));
  });
}
