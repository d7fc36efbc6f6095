import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { describeInChromium, type Visit } from '../support/chromium.ts';
import { openCheckout, rowsOf, startTestDesk, type TestDesk, visitDesk } from './test-desk.ts';

/** What an analyst gets who opens the desk in a browser. */

const SCREENSHOTS = join(import.meta.dirname, 'screenshots');
const CLEAN = 'sandbox:ios';
const EMULATOR = 'sandbox:android:EMULATOR,VPN_ENABLED';
const BLACKLISTED = 'sandbox:web:BROWSER_INCOGNITO_MODE,WHITELIST_IP';

describeInChromium("the analyst's desk", () => {
  let desk: TestDesk;
  let visited: Visit;
  let page: Page;

  beforeAll(async () => {
    desk = await startTestDesk();
  }, 30_000);
  afterAll(() => desk.stop());
  beforeEach(async () => {
    await desk.supergraph.recover();
    desk.supergraph.alter = (answer) => answer;
  });
  afterEach(() => {
    expect(visited.complaints).toEqual([]);
    expect(visited.requested.filter((url) => /sandbox:|eyJ/.test(decodeURIComponent(url)))).toEqual([]);
  });

  async function open(person?: string, hash?: string) {
    visited = await visitDesk(desk, person, hash);
    page = visited.page;
  }

  const detail = () => page.locator('#detail[aria-busy=false]');
  const facts = async (scope: string) => {
    const names = await page.locator(`${scope} dt`).allInnerTexts();
    const values = await page.locator(`${scope} dd`).allInnerTexts();
    return Object.fromEntries(names.map((name, index) => [name, values[index]]));
  };
  const signals = async (scope = '.first') =>
    (await page.locator(`${scope} .signal`).allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
  const askAnew = async () => {
    await page.getByRole('button', { name: 'Ask anew' }).click();
    await page.getByRole('button', { name: 'Make a new event' }).click();
  };

  test('an empty list says so', async () => {
    await open('Grace, analyst', '#decision=DENY');
    await page.getByText('There is no checkout with this decision.').waitFor();
    expect(await page.getByRole('radio', { name: 'Deny' }).isChecked()).toBe(true);
  });

  test('what was placed, challenged, refused or not judged is there with the rule that decided, the newest first', async () => {
    const { order } = await desk.buy(CLEAN);
    for (const token of [EMULATOR, BLACKLISTED, 'made-up']) await desk.buy(token);
    await open();
    const common = { item: 'Vase', customer: 'Ada', time: expect.stringMatching(/^\d\d \w{3}, \d\d:\d\d$/) };
    const rest = { ...common, order: 'no order' };
    expect((await rowsOf(page)).slice(0, 4)).toEqual([
      { ...rest, status: 'Challenged', decision: 'Not judged', rule: 'no rule' },
      { ...rest, status: 'Refused', decision: 'Deny', rule: 'listed' },
      { ...rest, status: 'Challenged', decision: 'Challenge', rule: 'serious' },
      { ...common, order: `${order?.id.slice(0, 14)}…`, status: 'Placed', decision: 'Allow', rule: 'otherwise' },
    ]);
    await page.screenshot({ path: join(SCREENSHOTS, 'desk-list.png') });
  });

  test('a checkout shows its judgement, as it was', async () => {
    await desk.buy(BLACKLISTED);
    await open();
    await openCheckout(page, 0);
    expect(await detail().getByRole('heading', { level: 2 }).innerText()).toBe('Vase for Ada');
    expect(await page.locator('.outcome').innerText()).toBe('Refused: the decision about the device.');
    expect(await page.locator('.first .decided').innerText()).toBe('Deny by the rule listed');
    expect(await signals()).toEqual([
      'WHITELIST_IP Level HIGH 100 % Effect DENY on your blacklist: refuse The IP address is on your blacklist, in spite of the name.',
      'BROWSER_INCOGNITO_MODE Level LOW 80 % Effect RISK counts towards risk The browser window is a private one.',
    ]);
    expect(await page.getByText('Go by the effect, and not by the name.').count()).toBe(1);
    expect(await page.getByRole('meter', { name: 'Confidence 80 %' }).getAttribute('value')).toBe('0.8');
    expect(await facts('.first')).toEqual({
      Client: 'Web page',
      Browser: 'Chrome 131.0.6778.86',
      Machine: 'Apple Macintosh',
      System: 'macOS 15.1',
      'IP address': '203.0.113.30',
      'Judged at': expect.stringMatching(/^\d\d \w{3} \d{4}, \d\d:\d\d:\d\d GMT[+-]\d\d:\d\d$/),
      Event: 'checkout',
      Policy: 'bec7b5666fdf',
      'Device id': expect.stringMatching(/^[0-9a-f]{64}$/),
      'Event id': expect.stringMatching(/^evt_/),
      'Request id': expect.stringMatching(/^req_/),
    });
  });

  test('the other customers and checkouts of the device are there, and lead to their own judgement', async () => {
    await desk.buy(EMULATOR);
    await open();
    await openCheckout(page, 0);
    // Who else is in the orders of a new shop.
    expect(await page.locator('.people li').allInnerTexts()).toEqual(['Mallory: 1 checkout', 'Grace: 1 checkout']);
    await page.getByRole('link', { name: 'Gift card for Mallory' }).click();
    await page.getByRole('heading', { name: 'Gift card for Mallory' }).waitFor();
    expect(await page.locator('.outcome').innerText()).toBe('Placed as order-5.');
    await page.goBack();
    await page.getByRole('heading', { name: 'Vase for Ada' }).waitFor();
  });

  test('a filter shows one decision, and a link leads to it', async () => {
    await desk.buy(BLACKLISTED);
    await desk.buy(CLEAN);
    await open();
    await page.getByRole('radio', { name: 'Deny' }).check();
    await expect
      .poll(async () => new Set((await rowsOf(page)).map(({ decision }) => decision)))
      .toEqual(new Set(['Deny']));
    expect(new URL(page.url()).hash).toBe('#decision=DENY');
    await page.reload();
    expect(new Set((await rowsOf(page)).map(({ decision }) => decision))).toEqual(new Set(['Deny']));
    await page.goBack();
    await expect.poll(async () => (await rowsOf(page))[0]?.['decision']).toBe('Allow');
  });

  test('older checkouts come when they are asked for, and the focus goes to the first of them', async () => {
    await open();
    expect(await rowsOf(page)).toHaveLength(25);
    await page.getByRole('button', { name: 'Show older checkouts' }).click();
    await page.locator('a.row').nth(25).waitFor();
    expect(
      await page
        .locator('a.row')
        .nth(25)
        .evaluate((row) => row === document.activeElement),
    ).toBe(true);
    const ids = await page.locator('a.row').evaluateAll((rows) => rows.map((row) => row.getAttribute('href')));
    expect(new Set(ids).size).toBe(50);
  });

  test('a record that cannot be opened spoils its own row alone', async () => {
    await desk.buy(CLEAN);
    await desk.buy(EMULATOR);
    desk.tamper();
    const before = desk.events();
    await open();
    const [first, second] = await rowsOf(page);
    expect(first).toMatchObject({ status: 'Challenged', decision: 'Unreadable', rule: 'no rule' });
    expect(second).toMatchObject({ status: 'Placed', decision: 'Allow' });
    await openCheckout(page, 0);
    const text = await page.locator('.first').innerText();
    expect(text).toContain('It was altered, or the key that sealed it has been destroyed');
    expect(text).toContain('Code: JUDGEMENT_UNREADABLE');
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0);
    expect(desk.events()).toBe(before);
  });

  test('markup that the service sends is text', async () => {
    const markup = '<img src=x onerror=alert(1)>';
    desk.supergraph.alter = (answer) => answer.replace('LIMIT_EXCEED', markup).replace('Pixel 8', markup);
    await desk.buy('sandbox:android:LIMIT_EXCEED#markup');
    await open();
    await openCheckout(page, 0);
    const [signal] = await signals();
    expect(signal).toContain(markup);
    expect(signal).toContain(
      'Effect UNKNOWN nothing is known about it Newer than what this graph knows about signals.',
    );
    expect(await facts('.first')).toMatchObject({ Model: `${markup} arm64-v8a` });
    expect(await page.locator('img').count()).toBe(0);
  });

  test('a gateway that cannot be reached is said, and trying again helps', async () => {
    await open();
    await rowsOf(page);
    await page.route(desk.gateway.url, (route) => route.abort('connectionrefused'));
    await page.getByRole('button', { name: 'Refresh' }).click();
    const alert = page.getByRole('alert');
    expect(await alert.innerText()).toMatch(/There was no answer\.\s+The gateway of the desk could not be reached/);
    await page.unroute(desk.gateway.url);
    await alert.getByRole('button', { name: 'Try again' }).click();
    expect(await rowsOf(page)).toHaveLength(25);
    expect(visited.complaints.splice(0)).toEqual([expect.stringContaining('net::ERR_CONNECTION_REFUSED')]);
  });

  test('a session that has ended leads to the sign-in', async () => {
    await open();
    await rowsOf(page);
    await page.evaluate(() => sessionStorage.setItem('session', '{"name":"Grace","token":"ended"}'));
    await page.reload();
    await page.getByRole('heading', { name: 'Who are you?' }).waitFor();
    expect(await page.locator('a.row').count()).toBe(0);
    expect(visited.complaints.splice(0)).toEqual([expect.stringContaining('401')]);
  });

  test('a link to a checkout that does not exist says so', async () => {
    await open('Grace, analyst', '#checkout=nothing');
    await page.getByText('There is no checkout with this id.').waitFor();
  });

  test('asking anew says what it costs, and is one event once it is confirmed', async () => {
    await desk.buy(`sandbox:once:ios#${crypto.randomUUID()}`);
    const before = desk.events();
    await open();
    await openCheckout(page, 0);
    const text = await page.locator('.ask-anew').innerText();
    expect(text).toContain('Asking anew makes a new event at the fingerprint service, which can be billed.');
    expect(text).toContain('TOKEN_EXPIRED');
    await page.getByRole('button', { name: 'Ask anew' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(desk.events()).toBe(before);
    await askAnew();
    await page.locator('.later').waitFor();
    expect(desk.events()).toBe(before + 1);
    expect(await page.locator('.later h3').innerText()).toMatch(/^Asked anew at .+ GMT[+-]\d\d:\d\d by staff-grace$/);
    expect(await page.locator('.later h3').evaluate((head) => head === document.activeElement)).toBe(true);
    expect(await page.locator('.later .decided').innerText()).toBe('Challenge by the rule reused-token');
    expect((await signals('.later')).join()).toContain('TOKEN_EXPIRED');
    expect(await page.locator('.first .decided').innerText()).toBe('Allow by the rule otherwise');
    expect(await signals('.first')).toEqual([]);
    await page.screenshot({ path: join(SCREENSHOTS, 'desk-asked-anew.png'), fullPage: true });
    await page.reload();
    await page.locator('.later').waitFor();
    expect(desk.events()).toBe(before + 1);
  });

  test.each([
    ['made-up', 'The fingerprint service does not accept the token.'],
    ['sandbox:error:500', 'There is no new judgement.'],
  ])('asking anew about %s says why there is nothing new, and leaves the checkout as it was', async (token, title) => {
    await desk.buy(token);
    await open();
    await openCheckout(page, 0);
    await askAnew();
    expect(await page.getByRole('alert').innerText()).toContain(title);
    expect(await page.locator('.first').innerText()).toContain('The device could not be judged');
    expect(await page.getByRole('button', { name: 'Ask anew' }).isEnabled()).toBe(true);
  });
});
