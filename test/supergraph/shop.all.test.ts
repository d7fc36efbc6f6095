import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { faultsInEachLook } from '../on-demand/accessibility.ts';
import { launchChromium, type Visit, visit, visitAgain } from '../on-demand/chromium.ts';
import { composeShopVariant } from './compose.ts';
import { startHiveGateway } from './gateways.ts';
import { startPageServer } from './page-server.ts';
import { asCustomer } from './people.ts';
import { SECRETS } from './test-secrets.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/** What a customer gets who opens the shop in a browser: it asks the gateway, whose origin is another one. */

const [browser, supergraph] = await Promise.all([launchChromium(), startTestSupergraph()]);
const shop = await startPageServer(supergraph);
const shopGateway = await startHiveGateway(await composeShopVariant(supergraph.subgraphs, SECRETS), {
  identify: asCustomer,
  secrets: SECRETS,
  pageOrigin: shop.origin,
});
shop.use(shopGateway.url);
const { page } = await visit(browser, shop.origin);
afterAll(async () => {
  await browser.close();
  await Promise.all([shopGateway.stop(), shop.stop(), supergraph.stop()]);
});

let visited: Visit;
/** What the page sent to the gateway, one for each HTTP request. */
let sent: { readonly operationName: string; readonly variables: Record<'input', Record<string, string>> }[] = [];

beforeEach(async () => {
  supergraph.alter = (answer) => answer;
  await supergraph.recover();
  visited = await visitAgain(page, shop.origin);
  supergraph.done.length = 0;
  supergraph.asked.length = 0;
  sent = [];
  page.on('request', (request) => request.url() === shopGateway.url && sent.push(request.postDataJSON()));
});
afterEach(() => {
  expect(visited.complaints).toEqual([]);
  expect(visited.requested.length).toBeGreaterThan(2);
  expect(visited.requested.filter((url) => /sandbox:|made-up/.test(decodeURIComponent(url)))).toEqual([]);
});

const operations = () => sent.map(({ operationName }) => operationName);
/** What was sent to be verified. */
const captchas = () =>
  sent.filter(({ operationName }) => operationName === 'ValidateCaptcha').map(({ variables }) => variables.input);
const buyFrom = (device: string) => page.getByLabel('Which device buys?').selectOption(device);
const press = (name: string) => page.getByRole('button', { name, exact: true }).click();

/** What the shop says once it has an answer: in place of the choice if something was ordered, otherwise below it. */
async function outcome(): Promise<string> {
  await page.locator('#order[aria-busy=false]').waitFor({ state: 'attached' });
  const placed = page.locator('#placed');
  return (await placed.isVisible()) ? placed.innerText() : page.getByRole('status').innerText();
}

/** Presses a button, and then one in the captcha, which has to appear. */
async function order(button: string, captcha: string): Promise<string> {
  await press(button);
  await press(captcha);
  return outcome();
}

const PLACED = /^Thank you, Ada\s+We have your order: Vase for €24\.00\./;

test.each(['A clean phone', 'A phone behind a VPN'])('%s orders with one request', async (device) => {
  await buyFrom(device);
  await press('Place order');
  expect(await outcome()).toMatch(PLACED);
  expect(operations()).toEqual(['PlaceOrder']);
  expect(sent[0]?.variables.input['deviceToken']).toMatch(/^sandbox:once:[^@]*@[^#]+#[^#]+$/);
  expect(supergraph.events()).toBe(1);
});

test.each(['An emulator', 'A device with a forged token'])('a captcha appears first for %s', async (device) => {
  await buyFrom(device);
  expect(await order('Place order', 'I am a person')).toMatch(PLACED);
  expect(operations()).toEqual(['PlaceOrder', 'ValidateCaptcha', 'PlaceOrder']);
  expect(supergraph.done).toEqual(['captcha verified', 'order placed']);
});

test('a phone on a blacklist is refused without a captcha or a reason', async () => {
  await buyFrom('A phone on a blacklist');
  await press('Place order');
  expect(await outcome()).toBe("We cannot take this order now. We'll look into it.");
  expect(operations()).toEqual(['PlaceOrder']);
});

test('an order cannot be placed twice: the next order is another purchase', async () => {
  await buyFrom('An emulator');
  expect(await order('Place order', 'Cancel')).toMatch(/^Nothing was ordered\. You closed the check\./);
  expect(await order('Try again', 'I am a person')).toMatch(PLACED);
  expect(await page.getByRole('button').allInnerTexts()).toEqual(['Order something else']);
  await press('Order something else');
  expect(await order('Place order', 'I am a person')).toMatch(PLACED);
  expect(supergraph.done.filter((what) => what === 'order placed')).toHaveLength(2);
  // Each try of a purchase has its number, by which it is judged once, and each try a token of its own.
  const inputs = sent
    .filter(({ operationName }) => operationName === 'PlaceOrder')
    .map(({ variables }) => variables.input);
  for (const name of ['checkoutId', 'deviceToken']) {
    const [one, two, three, four, five] = inputs.map((input) => input[name]);
    expect([two, four]).toEqual([three, five]);
    expect(one === two).toBe(name === 'checkoutId');
    expect(one).not.toBe(four);
    // Of the same device.
    expect(one?.split('#')[0] === four?.split('#')[0]).toBe(name === 'deviceToken');
  }
  expect(supergraph.events()).toBe(2);
});

test('a captcha that is too late, is no good, or cannot be checked gives no order, and the next try a new one', async () => {
  await buyFrom('An emulator');
  for (const [lotNumber, sentence] of [
    ['sandbox:fail:pass_token expire', 'The check took too long. Please try again.'],
    ['sandbox:exception:-50301', 'The check did not work. Please try again.'],
    ['sandbox:exception:-50000', 'We cannot check at the moment that you are a person.'],
  ] as const) {
    supergraph.alter = (answer) => answer.replace(/"lot_number":"\w{32}"/, `"lot_number":"${lotNumber}"`);
    await page.locator('#place').click();
    await press('I am a person');
    expect(await outcome()).toContain(`Nothing was ordered. ${sentence}`);
  }
  expect(supergraph.done).not.toContain('order placed');
  supergraph.alter = (answer) => answer;
  expect(await order('Try again', 'I am a person')).toMatch(PLACED);
});

test('a widget that does not load: the page tries without it, and a healthy service lets nobody proceed', async () => {
  await page.route('**/sandbox/challenges', (route) => route.abort());
  await buyFrom('An emulator');
  await press('Place order');
  expect(await outcome()).toContain('Nothing was ordered. The check did not work.');
  expect(captchas()).toMatchObject([{ lotNumber: expect.stringMatching(/^unavailable-/), passToken: 'unavailable' }]);
  // The browser reports the request that this test cut.
  expect(visited.complaints.splice(0)).toEqual([expect.stringContaining('net::ERR_FAILED')]);
});

test('an order whose answer is lost is not confirmed, and trying again shows the one that was placed', async () => {
  await page.route(shopGateway.url, async (route) => {
    if (supergraph.done.length > 0) return route.continue();
    await route.fetch();
    await route.abort('connectionreset');
  });
  await press('Place order');
  expect(await outcome()).toMatch(/^Your order is not confirmed\..* the same order is never placed twice\.$/);
  expect(supergraph.done).toEqual(['order placed']);
  await press('Try again');
  expect(await outcome()).toMatch(PLACED);
  expect(supergraph.done).toEqual(['order placed']);
  expect(supergraph.events()).toBe(1);
  // The browser reports the connection that this test cut.
  expect(visited.complaints.splice(0)).toEqual([expect.stringContaining('net::ERR_CONNECTION_RESET')]);
});

const said = () => page.locator('#said').filter({ hasNotText: 'One moment' }).innerText();
const follow = (name: string) => page.getByRole('link', { name }).click();
const open = (path: string) => page.goto(shop.origin + path);
const IS_THIS_YOU = 'Chrome on macOS: is this you?';

test('a page asks for its device with one event in a visit: none more if the person comes back, another one after a reload', async () => {
  await follow('This device');
  expect(await said()).toBe(IS_THIS_YOU);
  await follow('Corner Shop');
  await page.goBack();
  expect(await said()).toBe(IS_THIS_YOU);
  expect([operations(), supergraph.events()]).toEqual([['ThisDevice'], 1]);
  await page.reload();
  expect(await said()).toBe(IS_THIS_YOU);
  await follow('Corner Shop');
  await follow('This device');
  expect(await said()).toBe(IS_THIS_YOU);
  expect([operations(), supergraph.events()]).toEqual([['ThisDevice', 'ThisDevice', 'ThisDevice'], 3]);
  const tokens = sent.map(({ variables }) => JSON.stringify(variables));
  expect(new Set(tokens).size).toBe(3);
});

/** How each state is reached from a page that was just opened. */
const STATES: Readonly<Record<string, () => Promise<unknown>>> = {
  'this device': async () => {
    await open('/this-device.html');
    await said();
  },
  captcha: async () => {
    await buyFrom('An emulator');
    await press('Place order');
    await page.getByRole('dialog').waitFor();
  },
  failed: async () => {
    await page.route(shopGateway.url, (route) => route.abort());
    await press('Place order');
    await outcome();
    visited.complaints.length = 0;
  },
  placed: async () => {
    await press('Place order');
    await outcome();
  },
};

test.each(Object.entries(STATES))(
  'the page in the state %s: axe finds nothing, and nothing has to be scrolled sideways',
  async (state, reach) => {
    await reach();
    expect(await faultsInEachLook(page)).toEqual([]);
    if (state === 'captcha' && process.env['PICTURES']) await takePicture();
  },
);

/** Takes the picture of the README, where `PICTURES=1 npm run test:all` asks for it. */
async function takePicture(): Promise<void> {
  await page.setViewportSize({ width: 1020, height: 580 });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.screenshot({ path: join(import.meta.dirname, 'shop.png') });
}
