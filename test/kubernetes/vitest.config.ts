import { defineConfig } from 'vitest/config';
import { shared } from '../../vitest.config.ts';

/** `npm run test:kubernetes`: not among the tests of `npm run test:all`, because few machines have an API server. */
export default defineConfig({ ...shared, test: { ...shared.test, include: ['kubernetes/api-server.ts'] } });
