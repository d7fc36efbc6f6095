import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { describeInChromium, launchChromium, type Visit, visit } from '../support/chromium.ts';
import { composeShopVariant } from './compose.ts';
import { startHiveGateway } from './gateways.ts';
import type { Running } from './listen.ts';
import { type PageServer, startPageServer } from './page-server.ts';
import { asCustomer } from './people.ts';
import { startTestSupergraph, type TestSupergraph } from './test-supergraph.ts';

/** What a person gets who opens the page in a browser: it asks the gateway, whose origin is another one. */

const SCREENSHOTS = join(import.meta.dirname, 'screenshots');

describeInChromium('the page, with a clean console and no token in any address', () => {
  let browser: Browser;
  let supergraph: TestSupergraph;
  let shop: PageServer;
  let gateway: Running;
  let visited: Visit;
  let page: Page;

  beforeAll(async () => {
    browser = await launchChromium();
    supergraph = await startTestSupergraph();
    shop = await startPageServer('shop', supergraph);
    const variant = await composeShopVariant(supergraph.subgraphs);
    gateway = await startHiveGateway(variant, { identify: asCustomer, pageOrigin: shop.origin });
    shop.use(gateway.url);
  }, 30_000);
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    await shop.stop();
    await supergraph.stop();
  });

  beforeEach(async () => {
    supergraph.done.length = 0;
    supergraph.alter = (answer) => answer;
    await supergraph.recover();
    visited = await visit(browser, shop.origin);
    page = visited.page;
  });
  afterEach(async () => {
    await page.context().close();
    expect(visited.complaints).toEqual([]);
    expect(visited.requested.length).toBeGreaterThan(2);
    expect(visited.requested.filter((url) => /sandbox:|made-up/.test(decodeURIComponent(url)))).toEqual([]);
  });

  /** Presses a button, and gives the sentence that the page ends up with. */
  async function press(button: string, status: string): Promise<string> {
    await page.getByRole('button', { name: button }).click();
    const sentence = page.locator(status).filter({ hasText: /\.$/ });
    return sentence.innerText();
  }

  /** Everything below a form, as it reads. */
  const result = (form: 'order') => page.locator(`#${form}-result`).innerText();

  /** The operations that the page sent to the gateway, one for each HTTP request. */
  function watchOperations(): string[] {
    const operations: string[] = [];
    page.on('request', (request) => {
      if (request.url() === gateway.url) operations.push(request.postDataJSON().operationName);
    });
    return operations;
  }

  const place = () => press('Place order', '#order-status');
  const retry = () => press('Try again', '#order-status');

  test('an order takes one press: the shop asks for a captcha, and two requests later it is placed', async () => {
    const operations = watchOperations();
    expect(await place()).toBe('The order is placed.');
    const text = await result('order');
    expect(text).toMatch(/Captcha: passed\s+verified proof\s+Kind: slide, scene: login\./);
    expect(text).toMatch(/Order: PLACED\s+order-\S+: Vase at 24\.00, for Ada\./);
    expect(operations).toEqual(['PlaceOrder', 'ValidateCaptcha', 'PlaceOrder']);
    expect(supergraph.done).toEqual(['captcha verified', 'order placed']);
    await page.screenshot({ path: join(SCREENSHOTS, 'order.png'), fullPage: true });
  });

  test('a clean device orders with one request and no captcha', async () => {
    await page.getByLabel('Device token').fill('sandbox:ios');
    const operations = watchOperations();
    expect(await place()).toBe('The order is placed.');
    expect(await result('order')).toMatch(/^Order: PLACED/);
    expect(operations).toEqual(['PlaceOrder']);
    expect(supergraph.done).toEqual(['order placed']);
  });

  test('a blacklisted device is refused without a captcha or a reason, and another one is free to order', async () => {
    await page.getByLabel('Device token').fill('sandbox:ios:WHITELIST_ACCOUNT_ID');
    const operations = watchOperations();
    expect(await place()).toBe('The order is refused.');
    expect(await result('order')).toMatch(/^Order: refused, UNDER_REVIEW\s+We'll look into it\.$/);
    expect(operations).toEqual(['PlaceOrder']);
    await page.getByLabel('Device token').fill('sandbox:ios');
    expect(await place()).toBe('The order is placed.');
  });

  test('the next order is another one, with another captcha', async () => {
    await place();
    expect(await place()).toBe('The order is placed.');
    expect(supergraph.done).toEqual(['captcha verified', 'order placed', 'captcha verified', 'order placed']);
  });

  test('while the shop is asked, the page says so, and a second press sends nothing', async () => {
    const operations = watchOperations();
    const form = page.locator('#order');
    await page.getByRole('button', { name: 'Place order' }).dblclick();
    await page.locator('#order-status').filter({ hasText: 'The shop asks for a captcha …' }).waitFor();
    expect(await form.getAttribute('aria-busy')).toBe('true');
    await page.locator('#order-status').filter({ hasText: 'The order is placed.' }).waitFor();
    expect(await form.getAttribute('aria-busy')).toBe('false');
    expect(operations).toEqual(['PlaceOrder', 'ValidateCaptcha', 'PlaceOrder']);
  });

  test('an item that is sold out is refused, and another one needs no further captcha', async () => {
    await page.getByLabel('Item').selectOption('Signed print');
    expect(await place()).toBe('The order is refused.');
    expect(await result('order')).toMatch(/Order: refused, SOLD_OUT\s+The last one is gone\./);
    const operations = watchOperations();
    await page.getByLabel('Item').selectOption('Vase');
    expect(await place()).toBe('The order is placed.');
    expect(operations).toEqual(['PlaceOrder']);
    expect(supergraph.done).toEqual(['captcha verified', 'order placed']);
  });

  test('a challenge that was solved too long ago gives no proof, and the next try a new challenge', async () => {
    await page.getByLabel('If a captcha is asked for').selectOption('It was solved too long ago');
    expect(await place()).toBe('No order was placed.');
    expect(await result('order')).toMatch(/Captcha: failed, PASS_TOKEN_EXPIRED\s+no proof/);
    expect(supergraph.done).toEqual(['captcha verified']);
    await page.getByLabel('If a captcha is asked for').selectOption('A person solves it');
    expect(await retry()).toBe('The order is placed.');
  });

  test('in an outage of the captcha service a cheap item can be ordered, and an expensive one once it is over', async () => {
    supergraph.outage.captcha = true;
    expect(await place()).toBe('The order is placed.');
    expect(await result('order')).toMatch(/Captcha: no verdict, TRANSPORT\s+unverified proof/);
    await page.getByLabel('Item').selectOption('Desk');
    expect(await place()).toBe('The order is refused.');
    expect(await result('order')).toMatch(/Order: refused, UNVERIFIED\s+Captchas cannot be verified at the moment/);
    expect(supergraph.done).toEqual(['order placed']);
    await page.screenshot({ path: join(SCREENSHOTS, 'outage.png'), fullPage: true });
    supergraph.outage.captcha = false;
    await expect.poll(retry, { timeout: 15_000 }).toBe('The order is placed.');
    expect(await result('order')).toMatch(/Captcha: passed\s+verified proof/);
  });

  test('a captcha that could not even be asked about gives no proof', async () => {
    supergraph.alter = (answer) => answer.replace(/"gen_time":"\d+"/, '"gen_time":"yesterday"');
    expect(await place()).toBe('No order was placed.');
    expect(await result('order')).toMatch(/Captcha: could not be asked about\s+no proof\s+BAD_USER_INPUT/);
    expect(supergraph.done).toEqual([]);
  });

  test('an order whose answer is lost is not confirmed, and trying again shows the one that was placed', async () => {
    // Only the last of the requests loses its answer, after the shop placed the order.
    let sent = 0;
    await page.route(gateway.url, async (route) => {
      const isOrder = route.request().postDataJSON()?.operationName === 'PlaceOrder' && ++sent === 2;
      if (!isOrder) return route.continue();
      await route.fetch();
      await route.abort('connectionreset');
    });
    expect(await place()).toBe('The order is not confirmed.');
    expect(await result('order')).toContain('You can try again: the same checkout is never ordered twice.');
    expect(supergraph.done).toEqual(['captcha verified', 'order placed']);
    expect(await retry()).toBe('The order is placed.');
    expect(supergraph.done).toEqual(['captcha verified', 'order placed']);
    // The browser reports the connection that this test cut.
    expect(visited.complaints.splice(0)).toEqual([expect.stringContaining('net::ERR_CONNECTION_RESET')]);
  });

  test('a page of a third origin is refused by the browser, before anything reaches the gateway', async () => {
    const thirdParty = await startPageServer('shop', supergraph);
    thirdParty.use(gateway.url);
    const third = await visit(browser, thirdParty.origin);
    try {
      supergraph.asked.length = 0;
      await third.page.getByRole('button', { name: 'Place order' }).click();
      await third.page.getByText('The gateway gave no usable answer.').waitFor();
      expect(third.complaints.join('\n')).toContain('blocked by CORS policy');
      expect(supergraph.asked).toEqual([]);
    } finally {
      await third.page.context().close();
      await thirdParty.stop();
    }
  });
});
