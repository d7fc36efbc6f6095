import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../support/process.ts';
import { find, hint } from '../support/programs.ts';
import { INSTALLED } from './columns.ts';

/** `npm run test:clients`: tries what is found, and says how to get the rest. Ends with 1 if no program is there. */

const programs = [...new Set(INSTALLED.flatMap(({ program }) => program ?? []))];
const missing = programs.filter((program) => !find(program));
for (const program of missing) process.stderr.write(`${hint(program)}\n`);
const vitest = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/all.config.ts', 'test/clients/'];
if (missing.length === programs.length) process.exitCode = 1;
else
  process.exitCode =
    spawnSync(process.execPath, [...vitest, ...process.argv.slice(2)], {
      cwd: ROOT,
      stdio: 'inherit',
      env: { ...process.env, WITH_CLIENTS: '1' },
    }).status ?? 1;
