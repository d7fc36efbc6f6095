import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MAIN, shell, startProcess, type TestProcess } from '../support/process.ts';
import { LIVE } from './environments.ts';

/** The process as `npm run dev` and `npm run sandbox` start it, from its greeting to its exit code. */

let child: TestProcess;
afterEach(() => child.stop());

describe('in sandbox mode', () => {
  beforeEach(() => {
    child = startProcess(MAIN, {
      UPSTREAM_MODE: 'sandbox',
      SHUTDOWN_GRACE_MS: '0',
      ADMIN_PORT: '0',
      PORT: '0',
      SANDBOX_PORT: '0',
    });
  });

  test('says where it is and what to ask, and all of that works, twice', async () => {
    const [, graphqlUrl = '', url = ''] = await child.waitFor(/Device trust is at (\S+), Apollo Sandbox at (\S+)\n/);
    await child.waitFor(/validateCaptcha[^\n]*\n/);
    expect(graphqlUrl).toBe(`${url}/graphql`);
    expect((await fetch(url, { headers: { accept: 'text/html' } })).status).toBe(200);

    const commands = child
      .stdout()
      .split('\n')
      .filter((line) => line.startsWith('curl '));
    expect(commands).toHaveLength(3);
    for (const command of [...commands, ...commands]) {
      const { data, errors } = JSON.parse(await shell(command));
      expect(errors).toBeUndefined();
      expect(Object.values(data)).toEqual([expect.anything()]);
      if ('validateCaptcha' in data)
        expect(data.validateCaptcha).toMatchObject({ __typename: 'CaptchaPassed', proceed: true });
      if ('deviceFingerprint' in data) expect(data.deviceFingerprint).toMatchObject({ clientType: 'ANDROID' });
      if ('signalCatalogue' in data) expect(data.signalCatalogue).toHaveLength(51);
    }
    expect(child.stderr()).toBe('');
  }, 30_000);

  test.each(['SIGTERM', 'SIGINT'] as const)('%s ends it in good order', async (signal) => {
    const [, graphqlUrl = ''] = await child.waitFor(/Device trust is at (\S+),/);
    await child.waitFor(/validateCaptcha[^\n]*\n/);
    // Leaves a connection open, as a router does.
    await (await fetch(graphqlUrl, { method: 'POST' })).text();
    expect(await child.end(signal)).toBe(0);
    expect(child.stderr()).toBe('');
    await expect(fetch(graphqlUrl)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });
});

test.each([
  ['ROUTER_SECRETS', 'the-secret-of-the-router,the-one-of-before', 'the-secret-of-the-router'],
  ['SERVICES', '[{"name":"orders","secret":"the-secret-of-orders","scopes":["risk:read"]}]', 'the-secret-of-orders'],
])(
  'in sandbox mode with %s every command asks for the secret, and none shows it',
  async (name, value, secret) => {
    child = startProcess(MAIN, {
      UPSTREAM_MODE: 'sandbox',
      SHUTDOWN_GRACE_MS: '0',
      ADMIN_PORT: '0',
      PORT: '0',
      SANDBOX_PORT: '0',
      [name]: value,
    });
    await child.waitFor(/validateCaptcha[^\n]*\n/);
    const lines = child.stdout().split('\n');
    const [setting = '', ...others] = lines.filter((line) => line.startsWith('SECRET='));
    expect(setting).toMatch(new RegExp(`^SECRET='[a-z ]+${name}'$`));
    expect(others).toEqual([]);
    const commands = lines.filter((line) => line.startsWith('curl '));
    expect(commands).toHaveLength(3);
    for (const command of commands) {
      const { data, errors } = JSON.parse(await shell(`SECRET='${secret}'; ${command}`));
      expect([Object.values(data), errors]).toEqual([[expect.anything()], undefined]);
      expect(JSON.parse(await shell(`${setting}; ${command}`)).errors).toMatchObject([
        { extensions: { code: 'UNAUTHENTICATED' } },
      ]);
    }
    expect(child.stdout()).not.toMatch(/the-secret-of|the-one-of-before/);
  },
  30_000,
);

test('in live mode it logs where it is, and prints no commands', async () => {
  child = startProcess(MAIN, {
    PORT: '0',
    SHUTDOWN_GRACE_MS: '0',
    ADMIN_PORT: '0',
    ...LIVE,
  });
  const [line] = await child.waitFor(/^.*"ready".*\n/m);
  const { url, upstreams } = JSON.parse(line);
  expect(upstreams).toBe('live');
  expect(await (await fetch(url.replace('/graphql', '/readyz'))).text()).toBe('ready\n');
  expect(await child.end('SIGTERM')).toBe(0);
  const messages = child
    .stdout()
    .trimEnd()
    .split('\n')
    .map((one) => JSON.parse(one).msg);
  expect([messages, child.stderr()]).toEqual([['ready', 'stopping', 'stopped'], '']);
});

test.each(['SIGTERM', 'SIGINT'] as const)('the sandbox alone starts, serves, and ends at %s', async (signal) => {
  child = startProcess('src/sandbox/main.ts', { SANDBOX_PORT: '0' });
  await child.waitFor(/EU: \S+\n/);
  const urls = [...child.stdout().matchAll(/^Sandbox of region (GLB|NA|EU): (http:\S+)$/gm)].map(([, region, url]) => [
    region,
    url,
  ]);
  expect(urls.map(([region]) => region)).toEqual(['GLB', 'NA', 'EU']);
  for (const [region, url] of urls) {
    const answer = await fetch(`${url}/api/v2/fp_query/pk_sandbox_${region?.toLowerCase()}`, {
      method: 'POST',
      headers: { authorization: `Bearer sk_sandbox_${region?.toLowerCase()}`, 'content-type': 'application/json' },
      body: '{"device_token":"sandbox:web"}',
    });
    expect(await answer.json()).toMatchObject({ code: 200, message: 'Success' });
  }
  expect(await child.end(signal)).toBe(0);
  expect(child.stderr()).toBe('');
});
