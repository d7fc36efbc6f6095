import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { listen } from '../support/loopback.ts';
import { startProcess } from '../support/process.ts';

/** The sandbox as a program of its own, as `npm run sandbox` starts it. */

const SCRIPT = 'src/start-sandbox.ts';

test.concurrent('it starts where SANDBOX_HOST says, serves each region, and ends at a signal', async ({
  onTestFinished,
}) => {
  const child = startProcess(SCRIPT, { SANDBOX_HOST: '127.0.0.2', SANDBOX_PORT: '0' });
  onTestFinished(child.stop);
  await child.waitFor(/EU: \S+\n/);
  const urls = [...child.stdout().matchAll(/^Sandbox of region (GLB|NA|EU): (http:\/\/127\.0\.0\.2:\d+)$/gm)];
  expect(urls.map(([, region]) => region)).toEqual(['GLB', 'NA', 'EU']);
  for (const [, , url = ''] of urls) expect((await fetch(url)).status).toBe(404);
  expect(await child.end('SIGTERM')).toBe(0);
  expect(child.stderr()).toBe('');
});

test.concurrent('what is wrong with its environment is a sentence, without a stack', async ({ onTestFinished }) => {
  const server = createServer();
  onTestFinished(() => void server.close());
  const taken = await listen(server);
  const stderrWith = async (env: Readonly<Record<string, string>>) => {
    const child = startProcess(SCRIPT, env);
    onTestFinished(child.stop);
    expect([await child.ended, child.stdout()]).toEqual([1, '']);
    return child.stderr().trimEnd().split('\n');
  };
  const [ofPort, ofTaken, ofName] = await Promise.all(
    [{ SANDBOX_PORT: '65534' }, { SANDBOX_PORT: `${taken}` }, { SANDBOX_PROT: '0' }].map(stderrWith),
  );
  expect(ofPort).toEqual(['SANDBOX_PORT: expected a port from 0 to 65533, but got "65534".']);
  expect(ofTaken).toEqual([`SANDBOX_PORT: expected three free ports from this one on, but ${taken} is taken.`]);
  expect(ofName).toEqual(['SANDBOX_PROT: there is no such variable. Did you mean SANDBOX_PORT?']);
});
