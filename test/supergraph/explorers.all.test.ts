import { afterAll, expect, test } from 'vitest';
import { launchChromium, visit } from '../on-demand/chromium.ts';
import { startInSandboxMode } from '../support/app.ts';

/** The pages for people in development, in a browser that reaches this machine and nothing else; `test/explorer` has what is in them. */

const [browser, app] = await Promise.all([launchChromium(), startInSandboxMode()]);
afterAll(async () => {
  await browser.close();
  await app.stop();
});

test('the link to GraphiQL can be seen and followed while the page of Apollo Sandbox does not load', async () => {
  const { page } = await visit(browser, 'about:blank');
  // The script is there, as from a cache, and the frame that it makes never loads.
  const body = `class EmbeddedSandbox { constructor({ target }) {
    document.querySelector(target).append(Object.assign(document.createElement('iframe'), { src: '/never' })); } }`;
  await page.route('**/embeddable-sandbox.umd.production.min.js', (route) => route.fulfill({ body }));
  await page.route('**/never', () => {});
  await page.goto(app.url, { waitUntil: 'commit' });
  await page.locator('iframe').waitFor({ state: 'attached' });
  expect((await page.locator('iframe').boundingBox())?.height).toBeGreaterThan(500);
  await page.getByRole('link', { name: 'GraphiQL' }).click();
  await page.waitForURL(`${app.url}/graphiql`);
});

test('GraphiQL takes the place of Apollo Sandbox without the internet, and shows the operations', async () => {
  const { page } = await visit(browser, app.url);
  await page.waitForURL(`${app.url}/graphiql`);
  await page.getByRole('tab', { name: 'ValidateCaptcha' }).waitFor();
  await page.getByRole('button', { name: 'Execute query' }).waitFor();
});
