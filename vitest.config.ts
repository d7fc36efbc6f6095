import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    // The copy that Node itself picks. Vite would take the one under `module`, and Apollo's packages the other: two
    // graphqls in one process, neither of which knows the other's types.
    alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }],
  },
  test: {
    dir: 'test',
    // Files share a process, one after the other, and with it the modules that are loaded. Loading them for each file
    // took a fifth of the time. So a file that changes something global changes it back.
    isolate: false,
    // Many tests wait, for a deadline or for the next probe: one file more than there are cores.
    maxWorkers: availableParallelism() + 1,
    maxConcurrency: 20,
    // These end a test that hangs. What has to be quick says so in an expectation.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Longer than Vitest's second, for machines that are busy, but less than an idle connection stays open by itself.
    expect: { poll: { timeout: 4_500 } },
  },
});
