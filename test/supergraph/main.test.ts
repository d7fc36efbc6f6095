import { createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { closeAtOnce, listen } from '../support/loopback.ts';
import { shell, startProcess, type TestProcess } from '../support/process.ts';
import { CROSS_SUBGRAPH_QUERY } from './cross-subgraph-query.ts';

/** The process as `npm run supergraph` starts it. */

let child: TestProcess;
afterEach(() => child.stop());
const start = (env: Readonly<Record<string, string>>) => {
  child = startProcess('test/supergraph/main.ts', { PORT: '0', SANDBOX_PORT: '0', ...env });
  return child;
};

test('says where the two pages are and what curl needs, judges by the policy of the file, and a signal ends it with 0', async () => {
  const [, shop = '', desk = '', gateway = '', headers = ''] = await start({
    RISK_POLICY_FILE: 'test/fixtures/policy-without-emulators.json',
  }).waitFor(/^The shop: +(\S+)\nThe analyst's desk: +(\S+)\nThe supergraph: +(\S+)\n +for curl: +(-H .*)\n/m);
  const query = CROSS_SUBGRAPH_QUERY.replace('clientType', 'decision { action }').replace(/\s+/g, ' ');
  const body = JSON.stringify({ query });
  const { data, errors } = JSON.parse(await shell(`curl -s ${gateway} ${headers} -d '${body}'`));
  expect(errors).toBeUndefined();
  expect(data.user.orders[0].judgement.decision.action).toBe('DENY');
  expect(data.user.orders[0].judgement.device.orders).toHaveLength(3);
  expect(await (await fetch(desk)).text()).toContain(`content="${gateway}"`);
  expect((await fetch(`${shop}/sandbox/challenges`, { method: 'POST' })).status).toBe(200);

  expect(await child.end('SIGTERM')).toBe(0);
  expect(child.stderr()).toBe('');
  expect(child.stdout().trim().split('\n')).toHaveLength(5);
  for (const url of [shop, desk, gateway]) {
    await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  }
});

test('a port that is taken ends it with 1 and one sentence', async () => {
  const server = createServer();
  const port = await listen(server);
  expect(await start({ SANDBOX_PORT: String(port) }).ended).toBe(1);
  await closeAtOnce(server);
  expect(child.stderr()).toMatch(new RegExp(`^The supergraph cannot start: .*EADDRINUSE.*:${port}\\n$`));
});
