import { VARIABLES } from './config.ts';
import { startSandbox } from './sandbox/server.ts';

/** The sandbox as a process of its own: both upstream services, for those who develop against them. */

const port = VARIABLES.sandboxPort.schema.safeParse(process.env['SANDBOX_PORT'] || VARIABLES.sandboxPort.default);
if (!port.success) {
  process.stderr.write(`SANDBOX_PORT: expected ${VARIABLES.sandboxPort.expected}.\n`);
  process.exit(1);
}
const sandbox = await startSandbox({ host: '127.0.0.1', port: port.data });
for (const [region, url] of Object.entries(sandbox.urls)) process.stdout.write(`Sandbox of region ${region}: ${url}\n`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    sandbox.stop().then(() => process.exit(0));
  });
}
