import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../support/process.ts';
import { find, hint } from '../support/programs.ts';
import { HAPROXY, ROUTERS } from './columns.ts';

/** `npm run test:routers`: tries what is found, and says how to get the rest. Ends with 1 if no router is there. */

const missing = [HAPROXY, ...ROUTERS.flatMap(({ program }) => program ?? [])].filter((program) => !find(program));
for (const program of missing) process.stderr.write(`${hint(program)}\n`);
const hasRouter = ROUTERS.some(({ program }) => program && find(program));
const vitest = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/routers/vitest.config.ts'];
if (!hasRouter) process.exitCode = 1;
else
  process.exitCode =
    spawnSync(process.execPath, [...vitest, ...process.argv.slice(2)], {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, WITH_ROUTERS: '1' },
    }).status ?? 1;
