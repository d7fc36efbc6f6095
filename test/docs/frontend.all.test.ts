import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type PreviewServer, preview } from 'vite';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createVerifier } from '../../schema/recipes/attestation.ts';
import { SANDBOX_ATTESTATION } from '../../src/sandbox/accounts.ts';
import { launchChromium, visit } from '../on-demand/chromium.ts';
import { startInSandboxMode } from '../support/app.ts';
import { ROOT, shell, startProcess } from '../support/process.ts';
import { readPage } from './markdown.ts';

/** The files of the page for frontends, pasted into a folder, fit its types and work in a browser, on an origin of their own. */

/** What only the reader's app has: its pages and their roots. The address of the page of a device can name another token. */
const OURS: Readonly<Record<string, string>> = {
  'login.html': '<link rel="icon" href="data:,"><div></div><script type="module" src="login-root.tsx"></script>',
  'login-root.tsx': `
    import { createRoot } from 'react-dom/client';
    import { Login } from './Login.tsx';
    createRoot(document.querySelector('div')!).render(<Login />);`,
  'device.html': `<link rel="icon" href="data:,"><div></div>
    <script>
      const original = fetch;
      const token = decodeURIComponent(location.hash.slice(1)) || 'sandbox:once:web';
      fetch = (url, init) => original(url, { ...init, body: init.body.replace('sandbox:once:web', token) });
    </script>
    <script type="module" src="device-root.tsx"></script>`,
  'device-root.tsx': `
    import { StrictMode, useState } from 'react';
    import { createRoot } from 'react-dom/client';
    import { ThisDevice } from './ThisDevice.tsx';
    function Page() {
      const [mounted, setMounted] = useState(1);
      return <><ThisDevice key={mounted} /><button onClick={() => setMounted(mounted + 1)}>Mounted {mounted}</button></>;
    }
    createRoot(document.querySelector('div')!).render(<StrictMode><Page /></StrictMode>);`,
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
async function servePages(root: string, here: (content: string) => string): Promise<PreviewServer> {
  for (const [name, content] of [...files, ...Object.entries(OURS)]) await writeFile(join(root, name), here(content));
  const input = Object.keys(OURS).flatMap((name) => (name.endsWith('.html') ? [join(root, name)] : []));
  // In production React's strict mode mounts once, and Apollo Client warns of nothing.
  const define = { 'process.env.NODE_ENV': '"development"' };
  const shared = { root, configFile: false, logLevel: 'warn', mode: 'development', define } as const;
  await build({ ...shared, build: { outDir: 'built', chunkSizeWarningLimit: 9_999, rolldownOptions: { input } } });
  return preview({ ...shared, build: { outDir: 'built' }, preview: { host: '127.0.0.1', port: 0 } });
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

test('the files of the guide fit the types of Apollo Client and React, as strictly as this project', async () => {
  const options =
    '--ignoreConfig --noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --skipLibCheck';
  const modules =
    '--target es2024 --module esnext --moduleResolution bundler --allowImportingTsExtensions --jsx react-jsx';
  const names = files.map(([name]) => join(folder, name)).join(' ');
  expect(await shell(`npx tsc ${options} ${modules} --lib es2024,dom,dom.iterable --types react ${names}`)).toBe('');
});

test('the test in the guide passes without a server', async () => {
  await writeFile(join(folder, 'vitest.config.ts'), 'export default {}');
  expect(await shell(`NO_COLOR=1 npx vitest run --root ${folder}`)).toMatch(/Tests +1 passed/);
});

/** Logs in, and gives what the page then says. With `widget` the sandbox's captcha is replaced. */
async function logIn(widget?: (challenge: object) => object, email = 'ada@example.com') {
  const { page, complaints, requested } = await visit(browser, `${server.resolvedUrls?.local[0]}login.html`);
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

test('a login sends the service the device token, and a proof that it can verify', async () => {
  const { said, complaints } = await logIn();
  expect([said, complaints]).toEqual(['Welcome!', []]);
  const [{ email, deviceToken, attestation = '' } = {}] = received;
  expect([email, deviceToken]).toEqual(['ada@example.com', expect.stringMatching(/^sandbox:once:web@ada#/)]);
  const jwksUrl = `${app.url}/.well-known/jwks.json`;
  const issuer = 'https://device-trust.sandbox';
  const verify = createVerifier({ jwksUrl, issuer, audience: 'accounts', subject: 'optional' });
  expect(await verify(attestation, 'logIn', 'ada')).toMatchObject({ assurance: 'verified' });
});

test('several clicks log in once, and after an outage of the service the form is as it was', async () => {
  const { said, left, challenges } = await logIn(undefined, AWAY);
  expect([said, left, challenges]).toEqual(['Please try again.', { email: AWAY, canTry: true }, 1]);
});

test.each([
  ['that is rejected', (one: object) => ({ ...one, lot_number: 'sandbox:fail:pass_token expire' }), 'once more'],
  ['that was used before', (one: object) => ({ ...one, lot_number: 'sandbox:exception:-50003' }), 'once more'],
  ['whose service fails', (one: object) => ({ ...one, lot_number: 'sandbox:exception:-50000' }), 'in a minute'],
  ['of a page that is out of date', (one: object) => ({ ...one, gen_time: 'now' }), 'reload it'],
  ['whose widget does not load', () => JSON.parse(''), 'ad blocker'],
])('after a captcha %s nobody logs in, and the page says what to do', async (_what, widget, advice) => {
  expect((await logIn(widget)).said).toContain(advice);
  expect(received).toEqual([]);
});

test('after the command of the page nobody logs in, until the outage is confirmed; then the service gets a weaker proof', async () => {
  expect((await logIn()).said).toBe('Welcome!');
  const command = page.blocks.find(({ text }) => text.includes('/sandbox/faults'))?.text ?? '';
  const urls = Object.values(app.sandboxUrls ?? {});
  const outage = command.replace('http://127.0.0.1:[4100-4102]', `{${urls.join()}}`);
  await shell(outage);
  expect((await logIn()).said).toContain('in a minute');
  await expect.poll(async () => (await logIn()).said).toBe('Welcome!');
  const [, payload = ''] = received.at(-1)?.['attestation']?.split('.') ?? [];
  expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({ assurance: 'unverified' });
  await shell(outage.replace('down=true', 'seconds=0'));
});

test('a page asks the graph that `npm run supergraph` prints for its device, once in a visit', async () => {
  const supergraph = startProcess('test/supergraph/main.ts', { PORT: '0', SANDBOX_PORT: '0' });
  onTestFinished(async () => void (await supergraph.end('SIGTERM')));
  const [, graph = ''] = await supergraph.waitFor(/^The shop's graph: +(\S+) /m);
  const root = join(folder, 'device');
  await mkdir(root);
  const here = (content: string) =>
    content
      .replaceAll('http://127.0.0.1:4000/graphql', graph)
      // With it the client sends headers of its own, which the graph has to allow.
      .replace('new ApolloClient({', "$& clientAwareness: { name: 'page', version: '1' },");
  const own = await servePages(root, here);
  onTestFinished(() => own.close());
  const open = async (token = '') => {
    const opened = await visit(browser, `${own.resolvedUrls?.local[0]}device.html#${token}`);
    opened.page.on('console', (line) => line.type() === 'warning' && opened.complaints.push(line.text()));
    const status = opened.page.getByRole('status').filter({ hasNotText: 'One moment' });
    return {
      ...opened,
      said: () => status.innerText(),
      events: () => opened.requested.filter((url) => url === graph).length,
    };
  };
  const { page, complaints, said, events } = await open();
  const isChrome = async () => expect(await said()).toBe('Chrome on macOS: is this you?');
  await isChrome();
  for (const mounted of [1, 2]) await page.getByRole('button', { name: `Mounted ${mounted}` }).click();
  await page.getByRole('button', { name: 'Mounted 3' }).waitFor();
  await isChrome();
  await page.goto('about:blank');
  await page.goBack();
  await isChrome();
  expect(events()).toBe(1);
  await page.reload();
  await isChrome();
  expect([events(), complaints]).toEqual([2, []]);
  await page.context().close();
  for (const [token, sentence] of [
    ['sandbox:ios', 'iPhone16,1: is this you?'],
    ['sandbox:car', 'A new kind of device: is this you?'],
    ['made-up', 'We do not recognise this device. Please reload.'],
    ['sandbox:error:500', 'We cannot look at this device now. Please reload in a minute.'],
  ]) {
    const other = await open(token);
    expect([await other.said(), other.events()]).toEqual([sentence, 1]);
    await other.page.context().close();
  }
});
