import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from '../support/process.ts';
import { COLUMNS, find, HAPROXY } from './columns.ts';

/** `npm run test:routers`: tries what is found, and says how to get the rest. Ends with 1 if no router is there. */

const missing = [HAPROXY, ...COLUMNS.flatMap(({ program }) => program ?? [])].filter((program) => !find(program));
for (const { variable, command, how } of missing)
  process.stderr.write(`There is no ${command} on PATH, and ${variable} names none: ${how}\n`);
const hasRouter = COLUMNS.some(({ program }) => program && find(program));
const words = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'test/routers/vitest.config.ts'];
if (!hasRouter) process.exitCode = 1;
else
  process.exitCode =
    spawnSync(process.execPath, [...words, ...process.argv.slice(2)], { cwd: ROOT, stdio: 'inherit' }).status ?? 1;
