import { defineConfig } from 'vitest/config';
import { shared } from '../../vitest.config.ts';

/** `npm run test:routers`: the promises, through each router that is found. One after the other, because each has a port for its health. */
export default defineConfig({
  ...shared,
  test: { ...shared.test, include: ['routers/*.test.ts'], maxWorkers: 1 },
});
