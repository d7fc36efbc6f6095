import { afterEach, expect, test } from 'vitest';
import { shell, startProcess, type TestProcess } from '../support/process.ts';

/** The process as `npm run supergraph` starts it. */

let child: TestProcess;
afterEach(() => child.stop());

test.each(['SIGTERM', 'SIGINT'] as const)(
  'says where it is and what to ask; that works; and %s leaves nothing listening',
  async (signal) => {
    child = startProcess('test/supergraph/main.ts', { PORT: '0', SANDBOX_PORT: '0' });
    const [command] = await child.waitFor(/^SESSION=.*\ncurl [^\n]+'\n/m);
    const { data, errors } = JSON.parse(await shell(command));
    expect(errors).toBeUndefined();
    expect(data.user.orders[0].judgement.device.orders).toHaveLength(3);

    const urls = [...new Set(child.stdout().match(/http:\/\/127\.0\.0\.1:\d+/g))];
    expect(urls).toHaveLength(10); // two pages with a gateway each, three subgraphs, three regions
    const [, shop = '', desk = ''] = /shop is at (\S+), and the analyst's desk at (\S+)/.exec(child.stdout()) ?? [];
    const [, forShop = '', forDesk = ''] =
      /is at (\S+) for customers, and at (\S+) for staff/.exec(child.stdout()) ?? [];
    for (const [page, gateway, question] of [
      [shop, forShop, 'me { name'],
      [desk, forDesk, 'Crossing'],
    ] as const) {
      const graphiql = await (await fetch(gateway, { headers: { accept: 'text/html' } })).text();
      expect(graphiql).toContain(question);
      expect(graphiql).not.toMatch(/<script[^>]+src="https?:/);
      expect(await (await fetch(page)).text()).toContain(`content="${gateway}"`);
      const asksForPage = await fetch(gateway, { method: 'OPTIONS', headers: { origin: page } });
      expect(asksForPage.headers.get('access-control-allow-origin')).toBe(page);
    }
    expect((await fetch(`${shop}/sandbox/challenges`, { method: 'POST' })).status).toBe(200);

    expect(await child.end(signal)).toBe(0);
    expect(child.stderr()).toBe('');
    for (const url of urls) await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  },
  60_000,
);

test('ports that are taken end it with 1 and a sentence that names the variable of each', async () => {
  child = startProcess('test/supergraph/main.ts', { PORT: '0', SANDBOX_PORT: '0' });
  const [, gateway = ''] = await child.waitFor(/supergraph is at http:\/\/127\.0\.0\.1:(\d+)\/graphql for customers/);
  const [, sandbox = ''] = /sandbox GLB: http:\/\/127\.0\.0\.1:(\d+)/.exec(child.stdout()) ?? [];
  const second = startProcess('test/supergraph/main.ts', { PORT: gateway, SANDBOX_PORT: sandbox });
  try {
    expect(await second.ended).toBe(1);
    expect(second.stderr()).toMatch(/^The supergraph cannot start:\n( {2}[A-Z_]+: expected .*\n)+$/);
    expect(second.stderr()).toContain(
      `  PORT: expected a free port for the shop's gateway, but ${gateway} is taken.\n`,
    );
    expect(second.stderr()).toContain(
      `  SANDBOX_PORT: expected a free port for region GLB, but ${sandbox} is taken.\n`,
    );
  } finally {
    await second.stop();
  }
}, 60_000);

test.each([
  { env: { PORT: 'abc' }, problem: 'PORT: expected a port from 0 to 65529, but got "abc".' },
  { env: { PORT: '65530' }, problem: 'PORT: expected a port from 0 to 65529, but got "65530".' },
  { env: { SANDBOX_PORT: 'x' }, problem: 'SANDBOX_PORT: expected a port from 0 to 65533, but got "x".' },
  { env: { PROT: '5000' }, problem: 'PROT: there is no such variable. Did you mean PORT?' },
])(
  'a mistake in a variable ends it with 1 and one sentence: $problem',
  async ({ env, problem }) => {
    child = startProcess('test/supergraph/main.ts', env);
    expect(await child.ended).toBe(1);
    expect(child.stderr()).toBe(`The supergraph cannot start:\n  ${problem}\n`);
  },
  20_000,
);
