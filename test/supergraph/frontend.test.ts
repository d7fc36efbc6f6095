import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { describeInChromium, launchChromium, type Visit, visit } from '../support/chromium.ts';
import { type Frontend, startFrontend } from './frontend.ts';
import { startHiveGateway } from './gateways.ts';
import type { Running } from './listen.ts';
import { startTestSupergraph, type TestSupergraph } from './test-supergraph.ts';

/** What a person gets who opens the page in a browser: it asks the gateway, whose origin is another one. */

const RISK = 'RISK counts towards risk';
const SCREENSHOTS = join(import.meta.dirname, 'screenshots');

describeInChromium('the page, with a clean console and no token in any address', () => {
  let browser: Browser;
  let supergraph: TestSupergraph;
  let frontend: Frontend;
  let gateway: Running;
  let visited: Visit;
  let page: Page;

  beforeAll(async () => {
    browser = await launchChromium();
    supergraph = await startTestSupergraph();
    frontend = await startFrontend(supergraph.challengeUrl);
    gateway = await startHiveGateway(supergraph.supergraphSdl, 0, frontend.origin);
    frontend.use(gateway.url);
  }, 30_000);
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    await frontend.stop();
    await supergraph.stop();
  });

  beforeEach(async () => {
    supergraph.done.length = 0;
    supergraph.alter = (answer) => answer;
    await supergraph.recover();
    visited = await visit(browser, frontend.origin);
    page = visited.page;
  });
  afterEach(async () => {
    await page.context().close();
    expect(visited.complaints).toEqual([]);
    expect(visited.requested.length).toBeGreaterThan(2);
    expect(visited.requested.filter((url) => /sandbox:|made-up/.test(decodeURIComponent(url)))).toEqual([]);
  });

  /** Asks about a token, and gives what the page then says in a sentence. */
  async function judge(token: string): Promise<string> {
    await page.getByLabel('Device token').fill(token);
    return press('Judge this device', '#device-status');
  }

  /** Presses a button, and gives the sentence that the page ends up with. */
  async function press(button: string, status: string): Promise<string> {
    await page.getByRole('button', { name: button }).click();
    const sentence = page.locator(status).filter({ hasText: /\.$/ });
    return sentence.innerText();
  }

  /** The cells of the table of signals. */
  async function signals(): Promise<string[][]> {
    const rows = await page.getByRole('table').locator('tbody tr').all();
    const cells = await Promise.all(rows.map((row) => row.locator('th, td').allInnerTexts()));
    return cells.map((row) => row.map((cell) => cell.replace(/\s+/g, ' ').trim()));
  }

  /** Everything below a form, as it reads. */
  const result = (form: 'device' | 'order') => page.locator(`#${form}-result`).innerText();

  const facts = async () => {
    const names = await page.locator('dt').allInnerTexts();
    const values = await page.locator('dd').allInnerTexts();
    return Object.fromEntries(names.map((name, index) => [name, values[index]]));
  };

  test('the token that is there already is judged', async () => {
    expect(await press('Judge this device', '#device-status')).toBe('Android app: 2 signals, 1 of level HIGH.');
    expect(await facts()).toEqual({
      Client: 'Android app',
      Model: 'Pixel 8 arm64-v8a',
      System: 'Android 15',
      'IP address': '203.0.113.10',
      'Device id': expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await signals()).toEqual([
      ['EMULATOR', 'HIGH', RISK, '95 %', 'The device is an emulator of an older kind.'],
      ['VPN_ENABLED', 'LOW', RISK, '100 %', 'A VPN is switched on.'],
    ]);
    await page.screenshot({ path: join(SCREENSHOTS, 'device.png'), fullPage: true });
  });

  test('signals come with the most serious and then the surest first, and say what they mean by their effect', async () => {
    await judge('sandbox:ios:BLACKLIST_ACCOUNT_ID,DEVICE_WITHOUT_SIM,CLOUD_PHONE,WHITELIST_IP,NETWORK_PROXY');
    expect(await signals()).toEqual([
      ['WHITELIST_IP', 'HIGH', 'DENY refuse', '100 %', 'The IP address is on your blacklist, in spite of the name.'],
      ['CLOUD_PHONE', 'HIGH', RISK, '80 %', 'The device is a rented cloud phone or runs on an ARM server.'],
      ['NETWORK_PROXY', 'MEDIUM', RISK, '100 %', 'A network proxy is switched on.'],
      [
        'BLACKLIST_ACCOUNT_ID',
        'LOW',
        'ALLOW let through',
        '100 %',
        'The account is on your whitelist, in spite of the name.',
      ],
      ['DEVICE_WITHOUT_SIM', 'LOW', RISK, '40 %', 'No SIM card was found.'],
    ]);
    await page.screenshot({ path: join(SCREENSHOTS, 'signals.png'), fullPage: true });
  });

  test('a signal that is newer than the graph is shown as unknown, and markup in it as text', async () => {
    supergraph.alter = (answer) => answer.replace('LIMIT_EXCEED', '<img src=x onerror=alert(1)>');
    expect(await judge('sandbox:android:LIMIT_EXCEED')).toBe('Android app: 1 signal, 0 of level HIGH.');
    expect(await signals()).toEqual([
      [
        '<img src=x onerror=alert(1)>',
        'MEDIUM',
        'UNKNOWN no code yet',
        '100 %',
        'Newer than what this graph knows about signals.',
      ],
    ]);
    expect(await page.locator('img').count()).toBe(0);
  });

  test('a browser is shown as one, and a device without signals as such', async () => {
    expect(await judge('sandbox:web')).toBe('Web page: 0 signals, 0 of level HIGH.');
    expect(await facts()).toMatchObject({
      Client: 'Web page',
      Browser: 'Chrome 131.0.6778.86',
      Machine: 'Apple Macintosh',
      System: 'macOS 15.1',
      'IP address': '203.0.113.30',
    });
    expect(await result('device')).toContain('No signal was hit.');
  });

  test('a token that is rejected says why, field by field', async () => {
    expect(await judge('made-up')).toBe('The service does not judge this.');
    const text = await result('device');
    expect(text).toContain('INVALID_TOKEN The token is not one that the service issued.');
    expect(text).toContain('token: Invalid token value_error');
  });

  test('an error shows its code, and that trying again can help', async () => {
    expect(await judge('sandbox:error:500')).toBe('There is no judgement.');
    const text = await result('device');
    expect(text).toContain('UPSTREAM_UNAVAILABLE');
    expect(text).toContain('Trying the same again later can help.');
  });

  test('an error that stays shows its code, and that trying again does not help', async () => {
    await judge('sandbox:error:403');
    const text = await result('device');
    expect(text).toContain('UPSTREAM_REJECTED');
    expect(text).toContain('Trying the same again does not help.');
  });

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
    const thirdParty = await startFrontend(supergraph.challengeUrl);
    thirdParty.use(gateway.url);
    const third = await visit(browser, thirdParty.origin);
    try {
      supergraph.asked.length = 0;
      await third.page.getByRole('button', { name: 'Judge this device' }).click();
      await third.page.getByText('The gateway gave no usable answer.').waitFor();
      expect(third.complaints.join('\n')).toContain('blocked by CORS policy');
      expect(supergraph.asked).toEqual([]);
    } finally {
      await third.page.context().close();
      await thirdParty.stop();
    }
  });
});
