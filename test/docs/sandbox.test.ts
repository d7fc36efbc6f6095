import { afterAll, describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import { shell } from '../support/process.ts';
import { codeIn, readPage } from './markdown.ts';

/** What the page of the sandbox says is true: its commands, its accounts and its tokens. */

const page = readPage('src/sandbox/README.md');
const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
afterAll(() => sandbox.stop());

const { urls } = sandbox;
const urlOf = (region: string) => new Map(Object.entries(urls)).get(region) ?? `no region ${region}`;
const [start, query, verification] = page.blocks.map(({ text }) => text.replaceAll('http://127.0.0.1:4100', urls.GLB));

/** Asks the fingerprint service of a region as the page does. */
async function ask(region: string, publicKey: string, secret: string, token: string) {
  const response = await fetch(`${urlOf(region)}/api/v2/fp_query/${publicKey}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ device_token: token }),
  });
  return { status: response.status, text: await response.text() };
}

describe('commands', () => {
  test('the first one starts the sandbox, which `test/process` tries', () => {
    expect(start).toBe('npm run sandbox\n');
  });

  test('the query answers with the two signals of its token', async () => {
    const { code, data } = JSON.parse(await shell(query ?? ''));
    expect([code, data.signals.map(({ signal }: { signal: string }) => signal)]).toEqual([
      200,
      ['EMULATOR', 'VPN_ENABLED'],
    ]);
  });

  test('the verification passes', async () => {
    expect(JSON.parse(await shell(verification ?? ''))).toMatchObject({ status: 'success', result: 'success' });
  });
});

test.each(page.rowsOf('public key', 'secret', 'region'))('the application %s with %s in %s: %s', async (...row) => {
  const [publicKey = '', secret = '', region = '', remark = ''] = row.map((cell) => cell.replaceAll('`', ''));
  const { status } = await ask(region, publicKey, secret, 'sandbox:web');
  expect(status).toBe(remark.includes('403') ? 403 : 200);
});

test.each(page.rowsOf('captcha id', 'key', 'region'))('the captcha id %s with %s in %s: %s', async (...row) => {
  const [id = '', , region = '', remark = ''] = row.map((cell) => cell.replaceAll('`', ''));
  const url = `${urlOf(region)}/sandbox/challenges?captcha_id=${id.charAt(0).repeat(32)}`;
  const { captcha_id, code } = await (await fetch(url, { method: 'POST' })).json();
  expect(captcha_id ?? code).toBe(remark === '' ? id.charAt(0).repeat(32) : /-\d+/.exec(remark)?.[0]);
});

test('each kind of token answers what the page says', async () => {
  const [kinds = [], signals = [], error = [], delay = [], once = []] = page
    .rowsOf('token', 'response')
    .map(([cell = '']) => codeIn(cell));
  const statusOf = async (token: string) => (await ask('GLB', 'pk_sandbox_glb', 'sk_sandbox_glb', token)).status;
  expect(await Promise.all([...kinds, ...signals].map(statusOf))).toEqual([200, 200, 200, 200]);
  expect(await Promise.all(error.map(statusOf))).toEqual([500]);
  expect(await Promise.all(once.slice(0, 2).map(statusOf))).toEqual([200, 200]);
  for (const token of once.slice(0, 2))
    expect((await ask('GLB', 'pk_sandbox_glb', 'sk_sandbox_glb', token)).text).toContain('"TOKEN_EXPIRED"');
  const soon = delay.map((token) => token.replace('2000', '20'));
  expect(await Promise.all(soon.map(statusOf))).toEqual([200, 500]);
  expect(await Promise.all([...kinds.map((token) => `${token}#anything`), 'made-up'].map(statusOf))).toEqual([
    200, 200, 200, 400,
  ]);
});
