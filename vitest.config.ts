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
    // Tests wait much of the time, for deadlines and for breakers to close: two files at once, even where Vitest would leave
    // a core free.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    maxConcurrency: 20,
    // Longer than Vitest's second, for machines that are busy, but less than an idle connection stays open by itself.
    expect: { poll: { timeout: 3_000 } },
    // The gate runs on machines that are shared: a test about time gets a second try there, and the report names it. What fails
    // for one of many made-up inputs does not: another try would make up others.
    retry: process.env['RETRY'] ? { count: 1, condition: /^(?!Property failed)/ } : 0,
  },
});
