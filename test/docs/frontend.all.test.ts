import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type PreviewServer, preview } from 'vite';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SANDBOX_ATTESTATION } from '../../src/sandbox/accounts.ts';
import { launchChromium, visit } from '../on-demand/chromium.ts';
import { createVerifier } from '../supergraph/orders/attestation.ts';
import { startInSandboxMode } from '../support/app.ts';
import { ROOT, shell, startProcess } from '../support/process.ts';
import { request } from '../support/requests.ts';
import { readPage } from './markdown.ts';

/** The files of the page for frontends, pasted into a folder, fit its types and work in a browser, on an origin of their own. */

/** What only the reader's app has: its page and, for React, its root. */
const OURS: Readonly<Record<string, string>> = {
  'plain.html':
    '<link rel="icon" href="data:,"><form><input name="email"><button>Log in</button><p role="status"></p></form><script type="module" src="plain.ts"></script>',
  'react.html': '<link rel="icon" href="data:,"><div></div><script type="module" src="main.tsx"></script>',
  'main.tsx': `
    import { createRoot } from 'react-dom/client';
    import { Login } from './Login.tsx';
    createRoot(document.querySelector('div')!).render(<Login />);`,
  'checkout.html': '<link rel="icon" href="data:,"><script type="module" src="buy.ts"></script>',
  'buy.ts': `
    import { checkOut } from './checkout.ts';
    Object.assign(globalThis, { checkOut });`,
};

const page = readPage('schema/FRONTEND.md');
const files = page.blocks.flatMap(({ text }) => {
  const [, name] = /^\/\/ (\S+)/.exec(text) ?? [];
  return name ? [[name, text] as const] : [];
});
/** Not the default captcha id, so that a page which leaves out its id asks about another one. */
const CAPTCHA_ID = 'c'.repeat(32);
const audience = { id: 'accounts', actions: ['logIn'], subject: 'optional', captchaIds: [CAPTCHA_ID] } as const;
const attestation = { ...SANDBOX_ATTESTATION, audiences: [audience] };
const [app, browser] = await Promise.all([startInSandboxMode({ attestation }), launchChromium()]);
let folder: string;
let server: PreviewServer;
/** For whom the service that logs in is away. */
const AWAY = 'away@example.com';
/** What the page sent to the service that logs in. */
let received: Record<string, string>[] = [];

/** Writes the files into a folder with these addresses, and serves what Vite builds of them. */
async function servePages(root: string, here: (content: string) => string, proxy = {}): Promise<PreviewServer> {
  for (const [name, content] of [...files, ...Object.entries(OURS)]) await writeFile(join(root, name), here(content));
  const input = Object.keys(OURS).flatMap((name) => (name.endsWith('.html') ? [join(root, name)] : []));
  const shared = { root, configFile: false, logLevel: 'warn' } as const;
  await build({ ...shared, build: { outDir: 'built', rolldownOptions: { input } } });
  return preview({ ...shared, build: { outDir: 'built' }, preview: { host: '127.0.0.1', port: 0, proxy } });
}

beforeAll(async () => {
  // Git ignores `dist/`, and packages are found from there.
  await mkdir(join(ROOT, 'dist'), { recursive: true });
  folder = await mkdtemp(join(ROOT, 'dist/frontend-'));
  await cp(join(ROOT, 'schema/fixtures'), join(folder, 'fixtures'), { recursive: true });
  const here = (content: string) =>
    content
      .replaceAll('http://127.0.0.1:4000', app.url)
      .replaceAll('http://127.0.0.1:4100', String(app.sandboxUrls?.EU))
      .replaceAll('a'.repeat(32), CAPTCHA_ID);
  server = await servePages(folder, here);
});
afterEach(() => {
  received = [];
});
afterAll(async () => {
  await Promise.all([browser.close(), server.close(), app.stop()]);
  await rm(folder, { recursive: true });
});

test('the files fit the types of Apollo Client and React, as strictly as this project', async () => {
  const options =
    '--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --skipLibCheck';
  const modules =
    '--target es2024 --module esnext --moduleResolution bundler --allowImportingTsExtensions --jsx react-jsx';
  const names = files.map(([name]) => join(folder, name)).join(' ');
  expect(await shell(`npx tsc ${options} ${modules} --lib es2024,dom,dom.iterable --types react ${names}`)).toBe('');
});

test('the test of the page passes without a server', async () => {
  await writeFile(join(folder, 'vitest.config.ts'), 'export default {}');
  expect(await shell(`NO_COLOR=1 npx vitest run --root ${folder}`)).toMatch(/Tests +1 passed/);
});

/** Logs in, and gives what the page then says. With `widget` the sandbox's captcha is replaced. */
async function logIn(name: string, widget?: (challenge: object) => object, email = 'ada@example.com') {
  const { page, complaints, requested } = await visit(browser, `${server.resolvedUrls?.local[0]}${name}.html`);
  page.on('request', (sent) => {
    if (sent.url().endsWith('/sandbox/log-in') && sent.method() === 'POST') received.push(sent.postDataJSON());
  });
  if (email === AWAY) await page.route('**/sandbox/log-in', (route) => route.abort());
  page.on('console', (line) => line.type() === 'warning' && complaints.push(line.text()));
  if (widget) {
    // Not by a route, because with one Playwright answers the preflights itself.
    await page.evaluate(`const { fetch } = globalThis; const widget = ${widget};
      globalThis.fetch = async (url, init) => {
        const answer = await fetch(url, init);
        return String(url).includes('/sandbox/challenges') ? Response.json(widget(await answer.json())) : answer;
      };`);
  }
  const [input, button] = [page.locator('input'), page.getByRole('button')];
  await input.fill(email);
  // Three clicks, and no answer arrives between them. A button that is disabled does nothing.
  await page.evaluate(`(async () => {
    for (let left = 3; left > 0; left--) await document.querySelector('button').click();
  })()`);
  const said = await page.getByRole('status').filter({ hasText: /./ }).innerText();
  const left = { email: await input.inputValue(), canTry: await button.isEnabled() };
  await page.context().close();
  const challenges = requested.filter((url) => url.includes('/sandbox/challenges')).length;
  return { said, complaints, left, challenges };
}

test.each(['plain', 'react'])('%s: the service gets the device token, and a proof that it can verify', async (name) => {
  const { said, complaints } = await logIn(name);
  expect([said, complaints]).toEqual(['Welcome!', []]);
  const [{ email, deviceToken, attestation = '' } = {}] = received;
  expect([email, deviceToken]).toEqual(['ada@example.com', expect.stringMatching(/^sandbox:once:web@ada#/)]);
  const jwksUrl = `${app.url}/.well-known/jwks.json`;
  const issuer = 'https://device-trust.sandbox';
  const verify = createVerifier({ jwksUrl, issuer, audience: 'accounts', subject: 'optional' });
  expect(await verify(attestation, 'logIn', 'ada')).toMatchObject({ assurance: 'verified' });
});

test.each(['plain', 'react'])(
  '%s: clicks ask once, and after an outage of the service the form is as it was',
  async (name) => {
    const { said, left, challenges } = await logIn(name, undefined, AWAY);
    expect([said, left, challenges]).toEqual(['Please try again.', { email: AWAY, canTry: true }, 1]);
  },
);

test.each([
  ['that is rejected', (one: object) => ({ ...one, lot_number: 'sandbox:fail:pass_token expire' }), 'once more'],
  ['that was used before', (one: object) => ({ ...one, lot_number: 'sandbox:exception:-50003' }), 'once more'],
  ['whose service fails', (one: object) => ({ ...one, lot_number: 'sandbox:exception:-50000' }), 'in a minute'],
  ['of a page that is out of date', (one: object) => ({ ...one, gen_time: 'now' }), 'reload it'],
  ['whose widget does not load', () => JSON.parse(''), 'ad blocker'],
])('after a captcha %s nobody logs in, and the page says what to do', async (_what, widget, advice) => {
  expect((await logIn('plain', widget)).said).toContain(advice);
  expect(received).toEqual([]);
});

test('after the command of the page nobody logs in, until the outage is confirmed; then the service gets a weaker proof', async () => {
  expect((await logIn('plain')).said).toBe('Welcome!');
  const command = page.blocks.find(({ text }) => text.includes('/sandbox/faults'))?.text ?? '';
  const urls = Object.values(app.sandboxUrls ?? {});
  const outage = command.replace('http://127.0.0.1:[4100-4102]', `{${urls.join()}}`);
  await shell(outage);
  expect((await logIn('plain')).said).toContain('in a minute');
  await expect.poll(async () => (await logIn('plain')).said).toBe('Welcome!');
  const [, payload = ''] = received.at(-1)?.['attestation']?.split('.') ?? [];
  expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({ assurance: 'unverified' });
  await shell(outage.replace('down=true', 'seconds=0'));
});

test('a checkout passes the token on to the graph that `npm run supergraph` prints, and solves a captcha only if asked to', async () => {
  const supergraph = startProcess('test/supergraph/main.ts', { PORT: '0', SANDBOX_PORT: '0' });
  onTestFinished(async () => void (await supergraph.end('SIGTERM')));
  const [, shop = ''] = await supergraph.waitFor(/^The shop: +(\S+)\n/m);
  const [, graph = ''] = await supergraph.waitFor(/^The shop's graph: +(\S+) /m);
  const root = join(folder, 'checkout');
  await mkdir(root);
  const here = (content: string) =>
    content
      .replaceAll('http://127.0.0.1:4000/graphql', graph)
      .replaceAll('http://127.0.0.1:4100', '')
      // With it the client sends headers of its own, which the graph has to allow.
      .replace('new ApolloClient({', "$& clientAwareness: { name: 'page', version: '1' },");
  // The sandbox has a free port here, and the shop passes on to it.
  const proxy = { '/sandbox': { target: shop, rewrite: () => '/sandbox/challenges' } };
  const own = await servePages(root, here, proxy);
  onTestFinished(() => own.close());
  const { page, complaints } = await visit(browser, `${own.resolvedUrls?.local[0]}checkout.html`);
  page.on('console', (line) => line.type() === 'warning' && complaints.push(line.text()));
  const sent: { operationName: string; variables: { input: Record<string, string> } }[] = [];
  page.on('request', (one) => one.url() === graph && one.method() === 'POST' && sent.push(one.postDataJSON()));
  const checkOut = (item: string) => page.evaluate(`checkOut('a-purchase', '${item}')`);
  expect(await checkOut('Vase')).toBe('Thank you!');
  expect(await checkOut('Vase')).toBe('Thank you!');
  expect(await checkOut('Lamp')).toBe('Please try again.'); // the same purchase cannot be about something else
  expect(sent.map(({ operationName }) => operationName)).toEqual([
    ...['PlaceOrder', 'VerifyCaptcha', 'PlaceOrder'],
    ...['PlaceOrder', 'PlaceOrder'],
  ]);
  const [first, , proven, again] = sent.map(({ variables }) => variables.input['deviceToken']);
  expect(first).toMatch(/^sandbox:once:web:EMULATOR@ada#/);
  expect(proven).toBe(first);
  // Whether a token was used is not known if no answer arrived.
  expect(again).not.toBe(first);
  expect(complaints).toEqual([]);
  await page.context().close();
  const preflight = (origin: string) => {
    const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
    return request(graph, { method: 'OPTIONS', headers: { origin, ...asked } });
  };
  for (const origin of ['http://localhost:5173', 'http://127.0.0.1:3000'])
    expect((await preflight(origin)).headers.get('access-control-allow-origin')).toBe(origin);
  for (const origin of ['https://localhost:5173', 'http://localhost.evil.test', 'null'])
    expect((await preflight(origin)).headers.get('access-control-allow-origin')).not.toBe(origin);
});
