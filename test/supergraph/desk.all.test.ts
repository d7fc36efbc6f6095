import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { faultsInEachLook } from '../on-demand/accessibility.ts';
import { type Visit, visitAgain } from '../on-demand/chromium.ts';
import { ask } from '../support/requests.ts';
import { type OrderOutcome, orderInput, orderOutcome } from './orders-client.ts';
import { startTestPages, takePicture } from './test-pages.ts';

/** What an analyst gets who opens the desk in a browser. What was bought is the same for all tests, because they only look. */

const pages = await startTestPages();
const { supergraph, desk, deskGateway, shopGateway, tab: page } = pages;
afterAll(() => pages.stop());

const EMULATOR = 'sandbox:android:EMULATOR,VPN_ENABLED@emulator';
const MARKUP = '<img src=x onerror=alert(1)>';
const VALIDATE = `mutation ($input: ValidateCaptchaInput!) { validateCaptcha(input: $input) { attestation } }`;

/** Orders an item at the gateway of the shop. */
function buy(deviceToken: string, changes: Readonly<Record<string, unknown>> = {}): Promise<OrderOutcome> {
  return orderOutcome(shopGateway.url, orderInput({ deviceToken, ...changes }));
}

/** Orders a vase from an emulator, with a captcha. */
async function buyWithCaptcha(): Promise<OrderOutcome> {
  const input = { ...(await supergraph.solve()), audience: 'orders', action: 'placeOrder' };
  const { data } = await ask(shopGateway.url, VALIDATE, { input });
  return buy(EMULATOR, { attestation: data.validateCaptcha.attestation });
}

// The newest is the last.
await buy('sandbox:ios');
const database = new DatabaseSync(pages.ordersFile, { timeout: 5_000 });
database.exec(`UPDATE checkouts SET sealed = substr(sealed, 1, length(sealed) - 4) || 'AAAA'
  WHERE id = (SELECT MAX(id) FROM checkouts)`);
database.close();
supergraph.alter = (answer) => answer.replace('LIMIT_EXCEED', MARKUP).replace('Pixel 8', MARKUP);
await buy('sandbox:android:LIMIT_EXCEED#markup');
supergraph.alter = (answer) => answer;
await supergraph.loseCaptcha();
await buyWithCaptcha();
await supergraph.recover();
await buyWithCaptcha();
await buy('sandbox:error:500');
await buy('made-up', { item: 'Desk' });
await buy('sandbox:web:BROWSER_INCOGNITO_MODE,WHITELIST_IP');
await buy(EMULATOR);
await buy('sandbox:ios');
const events = supergraph.events();

let visited: Visit;
beforeEach(() => {
  visited = { page, requested: [], complaints: [] };
});
afterEach(() => {
  expect(visited.complaints).toEqual([]);
  expect(visited.requested.filter((url) => /sandbox:|eyJ/.test(decodeURIComponent(url)))).toEqual([]);
  // Whatever was looked at, as often as it was.
  expect(supergraph.events()).toBe(events);
});

async function open(person = 'Grace, analyst', hash = ''): Promise<void> {
  visited = await visitAgain(page, `${desk.origin}/${hash}`);
  await page.getByRole('button', { name: person }).click();
}

/** The rows of the table, each as the texts of its columns without the time. */
async function rows(): Promise<string[]> {
  await page.getByText(/^\d+ newest$/).waitFor();
  return page.locator('tbody tr').evaluateAll((all) =>
    all.map((row) =>
      [...row.querySelectorAll('td')]
        .slice(1)
        .map((cell) => cell.textContent)
        .join(' | '),
    ),
  );
}

async function openRow(at: number): Promise<string> {
  await rows();
  await page.locator('tbody tr a').nth(at).click();
  await page.locator('#detail-body > *').first().waitFor();
  return page.getByRole('dialog').innerText();
}

const facts = async () => {
  const [names, values] = [await page.locator('dt').allInnerTexts(), await page.locator('dd').allInnerTexts()];
  return Object.fromEntries(names.map((name, index) => [name, values[index]]));
};

test('the table says what became of each checkout, what was decided by which rule, and what the captcha was', async () => {
  await open();
  expect((await rows()).slice(0, 9)).toEqual([
    'Vase | Ada | Placed | Allow | otherwise | not asked',
    'Vase | Ada | Challenged | Challenge | serious | asked, not solved',
    'Vase | Ada | Refused | Deny | listed | not asked',
    'Desk | Ada | Refused | Not judged: forged token | none | not asked',
    'Vase | Ada | Challenged | Not judged: outage | none | asked, not solved',
    'Vase | Ada | Placed | Challenge | serious | verified',
    'Vase | Ada | Placed | Challenge | serious | unverified',
    'Vase | Ada | Placed | Allow | otherwise | not asked',
    // A record that cannot be opened spoils its own row alone.
    'Vase | Ada | Placed | Allow | unreadable | not asked',
  ]);
});

test('a judgement is there as it was', async () => {
  await open();
  const text = await openRow(2);
  expect(text).toMatch(/^Vase for Ada\n/);
  expect(text).toMatch(/\nAs judged at \d\d \w{3,4} \d{4}, \d\d:\d\d:\d\d GMT[+-]\d\d:\d\d\.\n+Signals: 2\n/);
  expect(await facts()).toMatchObject({
    Outcome: 'Refused',
    'Refused because': 'the decision is Deny; no captcha changes that',
    Decision: 'Deny',
    Rule: 'listed',
    Policy: '189f53faf1c1',
    Captcha: 'not asked',
    Client: 'Web page',
    Browser: 'Chrome 131.0.6778.86',
    'IP address': '203.0.113.30',
    'Device id': expect.stringMatching(/^[0-9a-f]{64}$/),
    'Event id': expect.stringMatching(/^evt_/),
  });
  expect((await page.locator('#detail li').allInnerTexts()).sort()).toEqual([
    'BROWSER_INCOGNITO_MODE LOW, confidence 80 %: counts towards risk. The browser window is a private one.',
    'WHITELIST_IP HIGH, confidence 100 %: refuse. The IP address is on your blacklist, in spite of the name.',
  ]);
});

test('the detail leads to the other orders from the device, whoever placed them', async () => {
  await open();
  await openRow(6);
  expect((await page.locator('#detail ul').last().locator('li').allInnerTexts()).map((text) => text.slice(16))).toEqual(
    [
      'Kettle for Ada: Challenge, captcha unverified',
      'Gift card for Grace: Challenge, captcha verified',
      'Gift card for Mallory: Challenge, captcha verified',
      'Vase for Ada: Challenge, captcha verified',
    ],
  );
  await page.locator('#detail ul a').last().click();
  await expect.poll(facts).toMatchObject({ Captcha: 'verified' });
});

test('the detail says why there is no judgement, and what that means', async () => {
  await open();
  for (const [row, sentence] of [
    [0, 'Signals: 0'],
    [3, 'so it is probably forged. Without a judgement the shop asks for a captcha, and refuses items above €50.00.'],
    [3, 'the device or the captcha could not be verified, and the item is above €50.00'],
    [4, 'This is on our side, and says nothing about the customer'],
    [8, 'The record cannot be opened: it was altered, or the key that sealed it has been destroyed.'],
  ] as const) {
    expect(await openRow(row)).toContain(sentence);
    await page.getByRole('button', { name: 'Close' }).click();
  }
});

test('markup that the service sends is text', async () => {
  await open();
  expect(await openRow(7)).toContain(`${MARKUP} `);
  expect(await facts()).toMatchObject({ Model: `${MARKUP} arm64-v8a` });
  expect(await page.locator('img').count()).toBe(0);
});

test('a gateway that cannot be reached is said', async () => {
  await open();
  await rows();
  await page.route(deskGateway.url, (route) => route.abort('connectionrefused'));
  await page.getByRole('button', { name: 'Refresh' }).click();
  expect(await page.getByRole('alert').innerText()).toMatch(/^There was no answer: .* Code: NO_ANSWER$/);
  expect(visited.complaints.splice(0)).toEqual([expect.stringContaining('net::ERR_CONNECTION_REFUSED')]);
});

test('a session that has ended leads to the sign-in, and nothing stays on the screen', async () => {
  await open();
  await openRow(0);
  await page.evaluate(() => sessionStorage.setItem('session', '{"name":"Grace","token":"ended"}'));
  await page.reload();
  await page.getByRole('heading', { name: 'who are you?' }).waitFor();
  expect(await page.locator('tbody tr').count()).toBe(0);
  expect(await page.getByRole('dialog').count()).toBe(0);
  // Of the table and of the checkout.
  expect(visited.complaints.splice(0)).toEqual([expect.stringContaining('401'), expect.stringContaining('401')]);
});

test('whoever is unknown is not signed in, and neither is a page of another origin', async () => {
  const signIn = (path: string, origin = desk.origin) =>
    fetch(desk.origin + path, { method: 'POST', headers: { origin } }).then(({ status }) => status);
  expect(await signIn('/sign-in/grace')).toBe(200);
  expect(await signIn('/sign-in/grace', pages.shop.origin)).toBe(404);
  expect(await signIn('/sign-in/constructor')).toBe(404);
});

/** How each state is reached. */
const STATES: Readonly<Record<string, () => Promise<unknown>>> = {
  'sign-in': async () => {
    visited = await visitAgain(page, desk.origin);
  },
  table: () => open().then(rows),
  judgement: () => open().then(() => openRow(2)),
  forbidden: async () => {
    await open('Ada, support');
    await page.getByRole('alert').waitFor();
  },
};

test.each(Object.entries(STATES))(
  '%s: axe finds nothing, and nothing has to be scrolled sideways',
  async (state, reach) => {
    await reach();
    expect(await faultsInEachLook(page)).toEqual([]);
    if (state === 'table') await takePicture(page, 'desk');
  },
);
