import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { startInLiveMode } from '../support/app.ts';
import { sdlOf } from './compose.ts';

/** The platform team's tool, which npx brings from the package registry. */

const ROVER = '@apollo/rover@0.41.0';
const app = await startInLiveMode('http://127.0.0.1:9', { upstreamCheck: 'off' });
afterAll(() => app.stop());

test('rover subgraph introspect returns our SDL, in live mode too', async () => {
  const { stdout } = await promisify(execFile)('npx', ['-y', ROVER, 'subgraph', 'introspect', app.graphqlUrl], {
    env: { ...process.env, APOLLO_TELEMETRY_DISABLED: '1' },
    timeout: 100_000,
  });
  expect(stdout.trim()).toBe((await sdlOf(app.graphqlUrl)).trim());
}, 120_000);
