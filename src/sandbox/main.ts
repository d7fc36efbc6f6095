import { VARIABLES } from '../config/variables.ts';
import { startSandbox } from './server.ts';

/** The sandbox as a process of its own, to develop against both upstream services. */

function refuseToStart(sentence: string): never {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}

const { name, expected, schema, default: fallback } = VARIABLES.sandboxPort;
const port = schema.safeParse(process.env[name] || fallback);
if (!port.success) refuseToStart(`${name}: expected ${expected}, but got ${JSON.stringify(process.env[name])}.`);

const sandbox = await startSandbox({ host: '127.0.0.1', port: port.data }).catch((error: Error) =>
  refuseToStart(error.message),
);
for (const [region, url] of Object.entries(sandbox.urls)) process.stdout.write(`Sandbox of region ${region}: ${url}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    sandbox.stop().then(() => process.exit(0));
  });
}
