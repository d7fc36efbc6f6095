import { afterAll, expect, test } from 'vitest';
import { launchChromium, type Request, visit, visitAgain } from '../on-demand/chromium.ts';
import { startInSandboxMode } from '../support/app.ts';

/** The pages for people in development, in a browser that reaches this machine and nothing else. */

const [browser, app] = await Promise.all([launchChromium(), startInSandboxMode()]);
const { page } = await visit(browser, app.url);
afterAll(async () => {
  await browser.close();
  await app.stop();
});

/** Opens a tab with one click. */
async function openTab(name: string) {
  const tab = page.getByRole('tab', { name });
  await tab.click();
  await expect.poll(() => tab.getAttribute('aria-selected')).toBe('true');
}

/** Executes what the editors hold, and gives what was sent and answered. A press is repeated until it sends something. */
async function execute(operationName: string) {
  const sent: Request[] = [];
  page.on('request', (request) => request.postDataJSON()?.query?.includes(operationName) && sent.push(request));
  const press = async () => {
    if (sent.length === 0) await page.getByRole('button', { name: 'Execute query' }).click();
    return sent.length;
  };
  await expect.poll(press, { timeout: 15_000, interval: 1_000 }).toBe(1);
  const response = await sent[0]?.response();
  return { variables: sent[0]?.postDataJSON().variables, ...(await response?.json()) };
}

test('the link to GraphiQL can be seen and followed while the page of Apollo Sandbox does not load', async () => {
  const { page: waiting } = await visit(browser, 'about:blank');
  // The script is there, as from a cache, and the frame that it makes never loads.
  const body = `class EmbeddedSandbox { constructor({ target }) {
    document.querySelector(target).append(Object.assign(document.createElement('iframe'), { src: '/never' })); } }`;
  await waiting.route('**/embeddable-sandbox.umd.production.min.js', (route) => route.fulfill({ body }));
  await waiting.route('**/never', () => {});
  await waiting.goto(app.url, { waitUntil: 'commit' });
  await waiting.locator('iframe').waitFor({ state: 'attached' });
  expect((await waiting.locator('iframe').boundingBox())?.height).toBeGreaterThan(500);
  await waiting.getByRole('link', { name: 'GraphiQL' }).click();
  await waiting.waitForURL(`${app.url}/graphiql`);
});

test('a page at studio.apollographql.com reads an answer, as Apollo Sandbox does, and a page of another site does not', async () => {
  const { page: elsewhere, complaints } = await visit(browser, 'about:blank');
  // Chrome asks the person, for each site that would reach this machine.
  await elsewhere.context().grantPermissions(['local-network-access']);
  const headers = { 'content-type': 'application/json', 'apollo-require-preflight': 'true' };
  const asked = { method: 'POST', headers, body: '{"query":"{ __schema { queryType { name } } }"}' };
  const read = ([url, init]: readonly [string, RequestInit]) =>
    fetch(url, init).then((answer) => answer.json(), String);
  const readFrom = async (site: string) => {
    await elsewhere.route(site, (route) => route.fulfill({ contentType: 'text/html', body: '' }));
    await elsewhere.goto(site);
    // With a route, Playwright would answer the preflight itself.
    await elsewhere.unrouteAll();
    return elsewhere.evaluate(read, [app.graphqlUrl, asked] as const);
  };
  expect(await readFrom('https://studio.apollographql.com/')).toEqual({
    data: { __schema: { queryType: { name: 'Query' } } },
  });
  expect(await readFrom('https://studio.example/')).toBe('TypeError: Failed to fetch');
  expect(complaints.join()).toContain("No 'Access-Control-Allow-Origin' header is present");
});

test('GraphiQL takes the place of Apollo Sandbox without the internet, and each visit has new challenges', async () => {
  await page.waitForURL(`${app.url}/graphiql`);
  // The tabs are where they stay.
  await page.getByRole('tab').last().waitFor();
  await page.evaluate(() => document.fonts.ready.then(() => {}));
  const lotNumbers: string[] = [];
  for (let visits = 0; visits < 2; visits += 1) {
    if (visits > 0) await visitAgain(page, `${app.url}/graphiql`);
    for (const name of ['ValidateCaptcha', 'AttestCaptcha']) {
      await openTab(name);
      const { variables, data } = await execute(name);
      expect(data.validateCaptcha).toMatchObject({ __typename: 'CaptchaPassed' });
      lotNumbers.push((variables.input ?? variables.attested).lotNumber);
    }
  }
  expect(new Set(lotNumbers).size).toBe(4);
});
