import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { describeInChromium, type Visit, visit, visitAgain } from '../support/chromium.ts';
import { ITEMS } from './orders/goods.ts';
import { startPageServer } from './page-server.ts';
import { startTestShop, type TestShop } from './test-shop.ts';
import type { TestSupergraph } from './test-supergraph.ts';

/** What a customer gets who opens the shop in a browser: it asks the gateway, whose origin is another one. */

describeInChromium('the shop, with a clean console and no token in any address', () => {
  let shop: TestShop;
  let supergraph: TestSupergraph;
  let visited: Visit;
  let page: Page;

  beforeAll(async () => {
    shop = await startTestShop();
    supergraph = shop.supergraph;
  }, 30_000);
  afterAll(() => shop.stop());

  beforeEach(async () => {
    supergraph.done.length = 0;
    supergraph.alter = (answer) => answer;
    await supergraph.recover();
    visited = await visitAgain(shop.tab, shop.page.origin);
    page = visited.page;
    supergraph.asked.length = 0;
  });
  afterEach(() => {
    expect(visited.complaints).toEqual([]);
    expect(visited.requested.length).toBeGreaterThan(2);
    expect(visited.requested.filter((url) => /sandbox:|made-up/.test(decodeURIComponent(url)))).toEqual([]);
  });

  const buyFrom = (device: string) => page.getByLabel('Which device buys?').selectOption(device);
  const choose = (item: string) => page.getByRole('radio', { name: item }).check();
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

  /** Waits until the shop says something else than before, and gives it: a title and a text. */
  async function outcome(): Promise<string[]> {
    await page.locator('#order[aria-busy=false]').waitFor();
    return page.getByRole('status').locator('h3, p').allInnerTexts();
  }

  /** Presses a button, and then one in the captcha, which has to appear. */
  async function order(button: string, captcha: string): Promise<string[]> {
    await press(button);
    await press(captcha);
    return outcome();
  }

  /** The operations that the page sent to the gateway, one for each HTTP request. */
  function watchOperations(): string[] {
    const operations: string[] = [];
    page.on('request', (request) => {
      if (request.url() === shop.gateway.url) operations.push(request.postDataJSON().operationName);
    });
    return operations;
  }

  const PLACED = ['Thank you, Ada', expect.stringMatching(/^Vase for €24\.00\. Your order number is \S+\.$/)];
  const UNCONFIRMED = ['Your order is not confirmed', expect.stringContaining('the same order is never placed twice')];

  test('shows every item that the order service has, at its price, and the one that is chosen in the summary', async () => {
    const cards = page.locator('.card');
    const shown = await Promise.all(
      (await cards.all()).map(async (card) => [
        await card.locator('.name').innerText(),
        await card.locator('.price').innerText(),
      ]),
    );
    const expected = ITEMS.map(({ name, priceCents }) => [name, `€${(priceCents / 100).toFixed(2)}`]);
    expect(shown.sort()).toEqual(expected.sort());
    await choose('Desk');
    expect(await page.locator('#summary dd').allInnerTexts()).toEqual(['Desk', 'Free', '€249.00']);
  });

  test.each(['A clean phone', 'A clean laptop', 'A phone behind a VPN'])(
    '%s orders with one request and no captcha, which makes one event',
    async (device) => {
      await buyFrom(device);
      const operations = watchOperations();
      await press('Place order');
      expect(await outcome()).toEqual(PLACED);
      expect(operations).toEqual(['PlaceOrder']);
      expect(supergraph.done).toEqual(['order placed']);
      expect(supergraph.asked).toHaveLength(1);
    },
  );

  test.each(['An emulator', 'A device that cannot be judged'])(
    'for %s the captcha appears, and two requests later the order is placed',
    async (device) => {
      await buyFrom(device);
      const operations = watchOperations();
      expect(await order('Place order', 'I am a person')).toEqual(PLACED);
      expect(operations).toEqual(['PlaceOrder', 'ValidateCaptcha', 'PlaceOrder']);
      expect(supergraph.done).toEqual(['captcha verified', 'order placed']);
    },
  );

  test('a phone on a blacklist is refused without a captcha or a reason, and another one is free to order', async () => {
    await buyFrom('A phone on a blacklist');
    const operations = watchOperations();
    await press('Place order');
    expect(await outcome()).toEqual(['We cannot take this order now', "We'll look into it."]);
    expect(operations).toEqual(['PlaceOrder']);
    await buyFrom('A clean phone');
    await press('Place order');
    expect(await outcome()).toEqual(PLACED);
  });

  test('each purchase has a token of its own, and each try of a purchase the same, which is judged once', async () => {
    const tokens: string[] = [];
    page.on('request', (request) => {
      const sent = request.url() === shop.gateway.url && request.postDataJSON().variables.input.deviceToken;
      if (sent) tokens.push(sent);
    });
    await buyFrom('An emulator');
    expect((await order('Place order', 'Cancel'))[0]).toBe('Nothing was ordered');
    expect(await order('Place order', 'I am a person')).toEqual(PLACED);
    expect(await order('Place order', 'I am a person')).toEqual(PLACED);
    expect(tokens).toHaveLength(5);
    expect(new Set(tokens.slice(0, 3)).size).toBe(1);
    expect(new Set(tokens).size).toBe(2);
    expect(supergraph.asked.filter(({ url }) => url.includes('/fp_query/'))).toHaveLength(2);
  });

  test('while the shop is asked, it says so, and a second press sends nothing', async () => {
    const operations = watchOperations();
    await page.route(shop.gateway.url, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      await route.continue();
    });
    await page.getByRole('button', { name: 'Place order' }).dblclick();
    expect(await page.getByRole('status').innerText()).toContain('Placing your order …');
    expect(await page.locator('#order').getAttribute('aria-busy')).toBe('true');
    expect(await outcome()).toEqual(PLACED);
    expect(operations).toEqual(['PlaceOrder']);
  });

  test('an item that is sold out is refused without a captcha, and another one can be ordered', async () => {
    await buyFrom('An emulator');
    await choose('Signed print');
    const operations = watchOperations();
    await press('Place order');
    expect((await outcome())[0]).toBe('Sold out');
    expect(operations).toEqual(['PlaceOrder']);
    await choose('Vase');
    expect(await order('Place order', 'I am a person')).toEqual(PLACED);
    expect(supergraph.done).toEqual(['captcha verified', 'order placed']);
  });

  test('a captcha that is solved too late gives no order, and the next try a new captcha', async () => {
    await buyFrom('An emulator');
    const tooLate = await order('Place order', 'Take too long');
    expect(tooLate).toEqual(['Nothing was ordered', 'The check took too long. Please try again.']);
    expect(supergraph.done).toEqual(['captcha verified']);
    expect(await order('Try again', 'I am a person')).toEqual(PLACED);
  });

  test('in an outage of the captcha service a cheap item can be ordered, and an expensive one once it is over', async () => {
    supergraph.outage.captcha = true;
    await buyFrom('An emulator');
    expect(await order('Place order', 'I am a person')).toEqual(PLACED);
    await choose('Desk');
    expect((await order('Place order', 'I am a person'))[0]).toBe('Not at the moment');
    expect(supergraph.done).toEqual(['order placed']);
    await supergraph.recover();
    expect((await order('Place order', 'I am a person'))[0]).toBe('Thank you, Ada');
  });

  test('a captcha that fails, or that could not even be asked about, gives no order', async () => {
    await buyFrom('An emulator');
    expect((await order('Place order', 'Let the check fail'))[0]).toBe('Nothing was ordered');
    supergraph.alter = (answer) => answer.replace(/"gen_time":"\d+"/, '"gen_time":"yesterday"');
    expect(await order('Try again', 'I am a person')).toEqual([
      'Nothing was ordered',
      'The check did not work. Please try again.',
    ]);
    expect(supergraph.done).not.toContain('order placed');
  });

  test('an order whose answer is lost is not confirmed, and trying again shows the one that was placed', async () => {
    await page.route(shop.gateway.url, async (route) => {
      if (supergraph.done.length > 0) return route.continue();
      await route.fetch();
      await route.abort('connectionreset');
    });
    await press('Place order');
    expect(await outcome()).toEqual(UNCONFIRMED);
    expect(supergraph.done).toEqual(['order placed']);
    await press('Try again');
    expect(await outcome()).toEqual(PLACED);
    expect(supergraph.done).toEqual(['order placed']);
    // The browser reports the connection that this test cut.
    expect(visited.complaints.splice(0)).toEqual([expect.stringContaining('net::ERR_CONNECTION_RESET')]);
  });

  test('a page of a third origin is refused by the browser, before anything reaches the gateway', async () => {
    const thirdParty = await startPageServer('shop', supergraph);
    thirdParty.use(shop.gateway.url);
    const third = await visit(shop.browser, thirdParty.origin);
    try {
      await third.page.getByRole('button', { name: 'Place order' }).click();
      await third.page.getByText('Your order is not confirmed').waitFor();
      expect(third.complaints.join('\n')).toContain('blocked by CORS policy');
      expect(supergraph.asked).toEqual([]);
    } finally {
      await third.page.context().close();
      await thirdParty.stop();
    }
  });
});
