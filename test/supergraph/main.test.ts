import { createServer } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { readApolloSandbox, readGraphiql } from '../explorer/pages.ts';
import { closeAtOnce, listen } from '../support/loopback.ts';
import { shell, startProcess } from '../support/process.ts';
import { ask, post, request } from '../support/requests.ts';
import { CROSS_SUBGRAPH_QUERY } from './cross-subgraph-query.ts';

/** The process as `npm run supergraph` starts it. */

const start = (env: Readonly<Record<string, string>>) =>
  startProcess('test/supergraph/main.ts', { PORT: '0', SANDBOX_PORT: '0', ...env });

// One for all tests but that of a taken port: it takes seconds to start.
const child = start({ RISK_POLICY_FILE: 'test/fixtures/policy-without-emulators.json' });
afterAll(child.stop);
const [, shop = '', gateway = '', command = ''] = await child.waitFor(
  /^The shop: +(\S+)\nThe supergraph: +(\S+)\n +by curl: +(curl .*)\n/m,
);

test('`npm run supergraph` says where the pages are, with a command for curl, and judges by the policy of the file', async () => {
  const { checkouts } = JSON.parse(await shell(command)).data;
  expect(checkouts).toContainEqual({ judgement: { decision: { action: 'DENY' } } });
  const query = CROSS_SUBGRAPH_QUERY.replace('clientType', 'decision { action }').replace(/\s+/g, ' ');
  const body = JSON.stringify({ query });
  const { data, errors } = JSON.parse(await shell(command.replace(/-d .*/, `-d '${body}'`)));
  expect(errors).toBeUndefined();
  expect(data.user.orders[0].judgement.decision.action).toBe('DENY');
  expect(data.user.orders[0].judgement.device.orders).toHaveLength(3);
  expect((await fetch(`${shop}/sandbox/challenges`, { method: 'POST' })).status).toBe(200);
});

const FORBIDDEN = { extensions: { code: 'FORBIDDEN', retryable: false } };

/** The answers to the operations of Apollo Sandbox and GraphiQL, by their names. */
const EXPLORED = {
  NewestCheckouts: {
    data: { checkouts: expect.arrayContaining([expect.objectContaining({ judgement: expect.any(Object) })]) },
  },
  Crossing: { data: { user: { orders: [{ judgement: { device: { orders: { length: 3 } } } }, {}] } } },
  SolvedCaptcha: { data: { validateCaptcha: { __typename: 'CaptchaPassed', attestation: expect.any(String) } } },
  WithoutScope: {
    data: { checkouts: null, deviceFingerprint: { clientType: 'ANDROID', signals: null } },
    errors: [FORBIDDEN, FORBIDDEN],
  },
};

test('an engineer opens the whole graph in Apollo Sandbox and in GraphiQL, and each operation works', async () => {
  const [, sandbox = '', graphiql = ''] = await child.waitFor(/^Apollo Sandbox: +(\S+) .*\nGraphiQL: +(\S+) /m);
  const open = async (url: string, headers = {}) => request(url, { headers: { accept: 'text/html', ...headers } });
  const { document, variables, headers } = readApolloSandbox((await open(sandbox)).text);
  const { defaultTabs } = readGraphiql((await open(graphiql)).text);
  const [graceOnly = ''] = Object.values(headers ?? {});
  for (const [index, [name, expected]] of Object.entries(EXPLORED).entries()) {
    const tab = defaultTabs[index];
    const own = JSON.parse(tab?.headers ?? '');
    expect(await ask(sandbox, tab?.query ?? '', JSON.parse(tab?.variables ?? ''), own)).toMatchObject(expected);
    // Apollo Sandbox has one set of headers, so the comment above the last operation has its own.
    const [, inComment] = /^# (\{.*\})$/m.exec(document) ?? [];
    const inSandbox = name === 'WithoutScope' ? JSON.parse(inComment ?? '') : headers;
    const body = JSON.stringify({ query: document, variables, operationName: name });
    expect(await post(sandbox, body, inSandbox)).toMatchObject(expected);
  }
  expect(graceOnly).toMatch(/^Bearer /);
  // Only a browser that was led here by the address gets a page, and nobody an answer without a session.
  expect((await request(sandbox)).status).toBe(401);
  const byName = sandbox.replace('127.0.0.1', 'localhost');
  expect((await open(byName)).status).toBe(401);
});

test.each<[string, boolean]>([
  ['https://studio.apollographql.com', true],
  ['http://localhost:5173', true],
  ['http://127.0.0.1:3000', true],
  ['https://localhost:5173', false],
  ['http://localhost.evil.test', false],
  ['https://studio.example', false],
])('a page at %s may ask both graphs with any header: %s', async (origin, expected) => {
  const [, shopGraph = ''] = await child.waitFor(/^The shop's graph: +(\S+) /m);
  const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,x-own' };
  for (const url of [gateway, shopGraph]) {
    const { headers } = await request(url, { method: 'OPTIONS', headers: { origin, ...asked } });
    expect(headers.get('access-control-allow-origin') === origin).toBe(expected);
    if (expected) expect(headers.get('access-control-allow-headers')).toBe('authorization,x-own');
  }
});

// Not a test, because it ends what the others ask, in whatever order they come.
afterAll(async () => {
  expect(await child.end('SIGTERM')).toBe(0);
  expect(child.stderr()).toBe('');
  expect(child.stdout().trim().split('\n')).toHaveLength(6);
  for (const url of [shop, gateway]) {
    await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  }
});

test('`npm run supergraph` on a port that is taken ends with 1 and says what to do', async ({ onTestFinished }) => {
  const server = createServer();
  const port = await listen(server);
  const second = start({ SANDBOX_PORT: String(port) });
  onTestFinished(second.stop);
  expect(await second.ended).toBe(1);
  await closeAtOnce(server);
  expect(second.stderr()).toMatch(
    new RegExp(`^The supergraph cannot start: .*EADDRINUSE.*:${port}\\. End what uses this port, .*\n$`),
  );
});
