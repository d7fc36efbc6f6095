import { afterEach, expect, test } from 'vitest';
import { shell, startProcess, type TestProcess } from '../support/process.ts';

/** The process as `npm run supergraph` starts it. */

let child: TestProcess;
afterEach(() => child.stop());

test.each(['SIGTERM', 'SIGINT'] as const)(
  'says where it is and what to ask; that works; and %s leaves nothing listening',
  async (signal) => {
    child = startProcess('test/supergraph/main.ts', { PORT: '0', SANDBOX_PORT: '0' });
    const [command] = await child.waitFor(/^curl [^\n]+'\n/m);
    const { data, errors } = JSON.parse(await shell(command));
    expect(errors).toBeUndefined();
    expect(data.user.orders[0].deviceFingerprint.device.orders).toHaveLength(3);

    const urls = [...new Set(child.stdout().match(/http:\/\/127\.0\.0\.1:\d+/g))];
    expect(urls).toHaveLength(8); // a page, a gateway, three subgraphs, three regions
    const [gateway = ''] = /http:\S+\/graphql(?=, with)/.exec(child.stdout()) ?? [];
    const graphiql = await (await fetch(gateway, { headers: { accept: 'text/html' } })).text();
    expect(graphiql).toContain('Crossing');
    expect(graphiql).not.toMatch(/<script[^>]+src="https?:/);

    const [page = ''] = /(?<=page that asks the supergraph is at )\S+/.exec(child.stdout()) ?? [];
    expect(await (await fetch(page)).text()).toContain(`content="${gateway}"`);
    const asksForPage = await fetch(gateway, { method: 'OPTIONS', headers: { origin: page } });
    expect(asksForPage.headers.get('access-control-allow-origin')).toBe(page);
    expect((await fetch(`${page}/sandbox/challenges`, { method: 'POST' })).status).toBe(200);

    expect(await child.end(signal)).toBe(0);
    expect(child.stderr()).toBe('');
    for (const url of urls) await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  },
  60_000,
);

test('a port that is taken ends it with 1 and one sentence', async () => {
  child = startProcess('test/supergraph/main.ts', { PORT: '0', SANDBOX_PORT: '0' });
  const [, gateway = ''] = await child.waitFor(/supergraph is at http:\/\/127\.0\.0\.1:(\d+)/);
  const second = startProcess('test/supergraph/main.ts', { PORT: gateway, SANDBOX_PORT: '0' });
  try {
    expect(await second.ended).toBe(1);
    expect(second.stderr()).toMatch(/^The supergraph cannot start: listen EADDRINUSE[^\n]*\n$/);
  } finally {
    await second.stop();
  }
}, 60_000);
