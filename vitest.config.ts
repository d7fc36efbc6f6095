import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    // The copy that Node itself picks. Vite would take the one under `module`, and Apollo's packages the other: two
    // graphqls in one process, neither of which knows the other's types.
    alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }],
  },
  // Tests that run at once wait most of the time: for deadlines, and for breakers to close.
  // A poll waits longer than Vitest's second, for machines that are busy, but ends before an idle connection would by itself.
  test: { dir: 'test', maxConcurrency: 20, expect: { poll: { timeout: 3_000 } } },
});
