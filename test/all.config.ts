import { execFileSync } from 'node:child_process';
import { defineConfig } from 'vitest/config';
import { shared } from '../vitest.config.ts';

/** These start what was built. */
const PROCESS = 'process/*.all.test.ts';
const MEASURED = [
  'bench/*.all.test.ts',
  'soak/*.all.test.ts',
  'limits/worst-request.all.test.ts',
  'deploy/rotation.all.test.ts',
  'upstream/quota-store.all.test.ts',
];

// Some of these tests import packages that `npm ci` leaves out.
execFileSync('npm', ['run', '--silent', 'on-demand'], { stdio: 'inherit' });

/**
 * `npm run test:all`: what needs minutes or other software than Node. Where something is missing, its test fails and says what to
 * install.
 */
export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    // A browser, a container and a database next to each other are enough for two cores.
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'all', include: ['**/*.all.test.ts'], exclude: [...MEASURED, PROCESS] } },
      {
        extends: true,
        test: { name: 'build', include: [PROCESS], env: { WITH_BUILD: '1' } },
      },
      {
        extends: true,
        // These measure, so nothing else runs beside them.
        test: { name: 'measured', include: MEASURED, maxWorkers: 1, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
