import { expect, test } from 'vitest';
import { hasIpv6 } from '../support/loopback.ts';
import { shell, startProcess } from '../support/process.ts';
import { ask, request } from '../support/requests.ts';
import { untilEnd } from '../support/until-end.ts';
import { LIVE, SANDBOX, startServing } from './environments.ts';

/** A network with IPv6 alone, and one with both. */

test.runIf(hasIpv6)('with HOST=::1 the subgraph and the sandbox talk by IPv6 alone', async (context) => {
  const sandbox = await untilEnd(startProcess('src/start-sandbox.ts', { HOST: '::1', SANDBOX_PORT: '0' }));
  const [, url = ''] = await sandbox.waitFor(/GLB: (http:\/\/\[::1\]:\d+)\n[\s\S]*EU: \S+\n/);
  const { graphqlUrl } = await startServing(context, {
    ...LIVE,
    HOST: '::1',
    FINGERPRINT_APPLICATIONS: '[{"publicKey":"pk_sandbox_glb","secret":"sk_sandbox_glb","region":"GLB"}]',
    FINGERPRINT_URL_GLB: url,
    FINGERPRINT_URL_NA: '',
  });
  expect(graphqlUrl).toMatch(/^http:\/\/\[::1\]:/);
  const { data } = await ask(graphqlUrl, '{ deviceFingerprint(token: "sandbox:ios") { __typename } }');
  expect(data).toEqual({ deviceFingerprint: { __typename: 'DeviceFingerprint' } });
});

test.runIf(hasIpv6)('with HOST=:: the subgraph listens on IPv4 too', async (context) => {
  const { graphqlUrl } = await startServing(context, { ...LIVE, HOST: '::' });
  for (const host of ['[::1]', '127.0.0.1'])
    expect((await request(graphqlUrl.replace('[::]', host).replace('/graphql', '/healthz'))).status).toBe(200);
});

// Zsh, the shell of macOS, refuses a pattern that no file matches, and so does Bash with this option.
test.runIf(hasIpv6)('with HOST=::1 the commands of sandbox mode work in any shell', async (context) => {
  const { child } = await startServing(context, { ...SANDBOX, HOST: '::1' });
  const answers: object[] = [];
  for (const [command] of child.stdout().matchAll(/^curl .*/gm))
    answers.push(JSON.parse(await shell(`shopt -s failglob\n${command}`)));
  expect(answers).toEqual(Array(3).fill({ data: expect.any(Object) }));
});
