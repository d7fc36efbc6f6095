import { expect, onTestFinished, test } from 'vitest';
import { createServer, listenOn } from '../../src/runtime/http.ts';
import { hasIpv6 } from '../support/loopback.ts';

test.each([
  ['127.0.0.1', /^http:\/\/127\.0\.0\.1:\d+$/],
  ...(hasIpv6 ? [['::1', /^http:\/\/\[::1\]:\d+$/] as const] : []),
] as const)('a server that listens at %s says so in the form of an address that can be asked', async (host, form) => {
  const server = createServer((_request, response) => void response.end('here'));
  onTestFinished(() => void server.close());
  const url = await listenOn(server, host, 0);
  expect(url).toMatch(form);
  expect(await (await fetch(url)).text()).toBe('here');
});
