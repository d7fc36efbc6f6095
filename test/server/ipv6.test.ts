import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import { startInLiveMode, startInSandboxMode } from '../support/app.ts';
import { hasIpv6 } from '../support/loopback.ts';
import { shell } from '../support/process.ts';
import { ask, request } from '../support/requests.ts';
import { untilEnd } from '../support/until-end.ts';

/** A network with IPv6 alone, and one with both. */

test.runIf(hasIpv6)('with HOST=::1 the subgraph and the sandbox talk by IPv6 alone', async () => {
  const { urls } = await untilEnd(startSandbox({ host: '::1', port: 0 }));
  const { graphqlUrl } = await untilEnd(startInLiveMode(urls, { host: '::1' }));
  for (const url of [urls.GLB, graphqlUrl]) expect(url).toMatch(/^http:\/\/\[::1\]:/);
  const { data } = await ask(graphqlUrl, '{ deviceFingerprint(token: "sandbox:ios") { __typename } }');
  expect(data).toEqual({ deviceFingerprint: { __typename: 'DeviceFingerprint' } });
});

test.runIf(hasIpv6)('with HOST=:: the subgraph listens on IPv4 too', async () => {
  const { url } = await untilEnd(startInSandboxMode({ host: '::' }));
  for (const host of ['[::1]', '127.0.0.1'])
    expect((await request(`${url.replace('[::]', host)}/healthz`)).status).toBe(200);
});

// Zsh, the shell of macOS, refuses a pattern that no file matches, and so does Bash with this option.
test.runIf(hasIpv6)('with HOST=::1 the commands of sandbox mode work in any shell', async () => {
  const { examples } = await untilEnd(startInSandboxMode({ host: '::1' }));
  const answers: object[] = [];
  for (const [command] of examples.matchAll(/^curl .*/gm))
    answers.push(JSON.parse(await shell(`shopt -s failglob\n${command}`)));
  expect(answers).toEqual(Array(3).fill({ data: expect.any(Object) }));
});
