import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: {
    // The copy that Node itself picks. Vite would take the one under `module`, and Apollo's packages the other: two
    // graphqls in one process, neither of which knows the other's types.
    alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }],
  },
  // Tests that run at once wait most of the time: for deadlines, and for breakers to close.
  test: { dir: 'test', maxConcurrency: 20 },
});
