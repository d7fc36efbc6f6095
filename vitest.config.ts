import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// A proxy of the shell does not know the servers of a test, so Node takes none. curl in `shell` has one, and has to say so itself.
delete process.env['NODE_USE_ENV_PROXY'];

/** What all tests have in common. */
export const shared = {
  resolve: {
    // The copy that Node itself picks. Vite would take the one under `module`, and Apollo's packages the other: two
    // graphqls in one process, neither of which knows the other's types.
    alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }],
  },
  test: {
    dir: 'test',
    exclude: ['**/node_modules/**'],
    maxConcurrency: 20,
    // These end a test that hangs. What has to be quick says so in an expectation.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // This ends a wait for what never happens, however busy the machine is. What has to happen sooner says so where it is awaited.
    expect: { poll: { timeout: 30_000 } },
  },
};

const ISOLATED = '**/*.isolated.test.ts';
const NEEDS_MORE = '**/*.all.test.ts';
/** Each starts many processes. That of the build starts in two thirds of the time, and is what runs in production. */
const BUILT = ['process/*.test.ts', 'faults/pipelining.test.ts', 'explain-policy.test.ts', 'generate-keys.test.ts'];

export default defineConfig({
  ...shared,
  test: {
    ...shared.test,
    // Many tests wait, for a deadline or for the next probe: two files more than there are cores.
    maxWorkers: availableParallelism() + 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['**/*.test.ts'],
          exclude: [ISOLATED, NEEDS_MORE, ...BUILT],
          // These files touch nothing global, so they share a process, one after the other, and with it the modules that are
          // loaded. Loading them for each file took a fifth of the time.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          include: BUILT,
          exclude: [NEEDS_MORE],
          isolate: false,
          globalSetup: 'test/process/build.ts',
          env: { WITH_BUILD: '1' },
        },
      },
      {
        extends: true,
        // These change what their process shares: its clock, its environment, a module. Each has a process of its own.
        test: { name: 'isolated', include: [ISOLATED], exclude: [NEEDS_MORE] },
      },
    ],
  },
});
