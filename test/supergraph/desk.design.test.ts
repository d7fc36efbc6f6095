import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { faultsInEachLook } from '../support/accessibility.ts';
import { describeInChromium, visitAgain } from '../support/chromium.ts';
import { openCheckout, rowsOf, startTestDesk, type TestDesk, visitDesk } from './test-desk.ts';

/** Who can use the desk: on a phone and on a wide screen, in the dark, with a keyboard alone, with a screen reader. */

const SCREENSHOTS = join(import.meta.dirname, 'screenshots');
const EMULATOR = 'sandbox:android:EMULATOR,VPN_ENABLED';
const COLUMNS = ['order', 'item', 'customer', 'status', 'decision', 'rule', 'time'];

/** How each state is reached. The newest checkout cannot be opened, the next one is an emulator's. */
const STATES: Readonly<Record<string, (desk: TestDesk) => Promise<Page>>> = {
  'sign-in': async (desk) => {
    const { page } = await visitAgain(desk.tab, desk.page.origin);
    await page.getByRole('heading', { name: 'Who are you?' }).waitFor();
    return page;
  },
  list: async (desk) => {
    const { page } = await visitDesk(desk);
    await rowsOf(page);
    return page;
  },
  loading: async (desk) => {
    const { page } = await visitAgain(desk.tab, desk.page.origin);
    // The answer never comes.
    await page.route(desk.gateway.url, () => {});
    await page.getByRole('button', { name: 'Grace, analyst' }).click();
    await page.locator('#rows[aria-busy=true]').waitFor();
    return page;
  },
  checkout: (desk) => openRow(desk, 1),
  unreadable: (desk) => openRow(desk, 0),
  confirmation: async (desk) => {
    const page = await openRow(desk, 1);
    await page.getByRole('button', { name: 'Ask anew' }).click();
    await page.getByRole('dialog').waitFor();
    return page;
  },
  'asked anew': async (desk) => {
    const page = await openRow(desk, 2);
    await page.getByRole('button', { name: 'Ask anew' }).click();
    await page.getByRole('button', { name: 'Make a new event' }).click();
    await page.locator('.later').first().waitFor();
    return page;
  },
  empty: async (desk) => {
    const { page } = await visitDesk(desk, 'Grace, analyst', '#decision=DENY');
    await page.getByText('There is no checkout with this decision.').waitFor();
    return page;
  },
  error: async (desk) => {
    const { page } = await visitAgain(desk.tab, desk.page.origin);
    await page.route(desk.gateway.url, (route) => route.abort());
    await page.getByRole('button', { name: 'Grace, analyst' }).click();
    await page.getByText('There was no answer.').waitFor();
    return page;
  },
  forbidden: async (desk) => {
    const { page } = await visitDesk(desk, 'Ada, support');
    await page.getByText('It needs the scope risk:read').waitFor();
    return page;
  },
};

async function openRow(desk: TestDesk, row: number): Promise<Page> {
  const { page } = await visitDesk(desk);
  await openCheckout(page, row);
  return page;
}

describeInChromium("the analyst's desk", () => {
  let desk: TestDesk;
  let page: Page;
  beforeAll(async () => {
    desk = await startTestDesk();
    for (const token of ['sandbox:ios', EMULATOR, 'sandbox:ios']) await desk.buy(token);
    desk.tamper();
  }, 30_000);
  afterAll(() => desk.stop());

  test.each(Object.entries(STATES))('%s: axe finds no violation, and nothing is cut off', async (state, reach) => {
    page = await reach(desk);
    expect(await faultsInEachLook(page, join(SCREENSHOTS, `desk-${state.replace(' ', '-')}`), false)).toEqual([]);
  });

  test.each([360, 700, 1000, 1280, 1600])('at %i px every row shows every column', async (width) => {
    page = (await visitDesk(desk)).page;
    await page.setViewportSize({ width, height: 800 });
    await rowsOf(page);
    const shown = await page.locator('a.row').evaluateAll((rows) =>
      rows.map((row) =>
        [...row.querySelectorAll<HTMLElement>('[data-column]')]
          .filter((cell) => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            const { width, height } = cell.getBoundingClientRect();
            const isWhole = cell.scrollWidth <= cell.clientWidth && cell.scrollHeight <= cell.clientHeight;
            return width > 0 && height > 0 && isWhole && cell.checkVisibility({ opacityProperty: true });
          })
          .map((cell) => cell.dataset['column']),
      ),
    );
    expect(shown).toHaveLength(25);
    for (const columns of shown) expect(columns).toEqual(COLUMNS);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  });

  test('nothing jumps when the list comes in', async () => {
    page = (await visitDesk(desk)).page;
    await rowsOf(page);
    await page.reload();
    await rowsOf(page);
    const shift = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          const observer = new PerformanceObserver((list) => {
            resolve(list.getEntries().reduce((sum, entry) => sum + ((entry as { value?: number }).value ?? 0), 0));
          });
          observer.observe({ type: 'layout-shift', buffered: true });
          setTimeout(() => resolve(0), 500);
        }),
    );
    // Google's limit for a good page is 0.1.
    expect(shift).toBeLessThan(0.02);
  });

  test('everything can be done with the keyboard alone, and the focus is always to be seen', async () => {
    ({ page } = await visitAgain(desk.tab, desk.page.origin));
    /** What has the focus: its accessible text, and its outline. */
    const focused = () =>
      page.evaluate(() => {
        const element = document.activeElement;
        const drawn = element instanceof HTMLInputElement ? element.nextElementSibling : element;
        const { outlineStyle, outlineWidth } = getComputedStyle(drawn ?? document.body);
        const name = element instanceof HTMLInputElement ? element.value || 'ALL' : element?.textContent;
        return `${name?.trim().slice(0, 40)} | ${outlineStyle} ${outlineWidth}`;
      });
    const press = async (key: string) => {
      await page.keyboard.press(key);
      return focused();
    };
    const visible = (text: string) => expect.stringMatching(`^${text}.* \\| solid 3px$`);

    expect(await press('Tab')).toEqual(visible('Skip to the checkouts'));
    expect(await press('Tab')).toEqual(visible('Grace, analyst'));
    await page.keyboard.press('Enter');
    await rowsOf(page);
    expect(await focused()).toEqual(visible('Checkouts'));
    expect(await press('Shift+Tab')).toEqual(visible('Sign out'));
    for (const name of ['Refresh', 'ALL', 'Order: order-']) expect(await press('Tab')).toEqual(visible(name));
    const rows = page.locator('a.row');
    const focusedRow = () => rows.evaluateAll((all) => all.indexOf(document.activeElement as HTMLAnchorElement));
    for (const [key, row] of [
      ['ArrowDown', 1],
      ['End', 24],
      ['Home', 0],
      ['ArrowUp', 0],
      ['ArrowDown', 1],
    ] as const) {
      await page.keyboard.press(key);
      expect(await focusedRow()).toBe(row);
    }

    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Vase for Ada' }).waitFor();
    expect(await focused()).toEqual(visible('Vase for Ada'));
    // Escape and "back" return to the row.
    await page.keyboard.press('Escape');
    await page.getByText('Choose a checkout').waitFor();
    expect(await focusedRow()).toBe(1);
    await page.goBack();
    await page.getByRole('heading', { name: 'Vase for Ada' }).waitFor();
    await page.goForward();
    await expect.poll(focusedRow).toBe(1);

    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Vase for Ada' }).waitFor();
    expect(await press('Tab')).toEqual(visible('Ask anew'));
    await page.keyboard.press('Enter');
    expect(await focused()).toEqual(visible('Make a new event'));
    await page.keyboard.press('Escape');
    expect(await focused()).toEqual(visible('Ask anew'));
    // The key closed the dialog alone.
    await page.getByRole('heading', { name: 'Vase for Ada' }).waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    await page.locator('.later').first().waitFor();
    expect(await focused()).toEqual(visible('Asked anew at'));

    await page.locator('#skip').focus();
    expect(await press('Enter')).toEqual(visible('Order: no orderItem: Vase'));
  });

  test('a screen reader hears a row as one sentence, and which one is open', async () => {
    page = (await visitDesk(desk)).page;
    await openCheckout(page, 1);
    const link = page.getByRole('link', {
      name: /^Order: no order Item: Vase Customer: Ada Status: Challenged Decision: Challenge Rule: serious Time: /,
    });
    expect(await link.first().getAttribute('aria-current')).toBe('true');
    expect(await page.locator('a.row[aria-current]').count()).toBe(1);
    expect(await page.getByRole('region', { name: 'Vase for Ada' }).count()).toBe(1);
    expect(await page.getByRole('status').first().innerText()).toBe('25 newest checkouts');
  });

  test('who wants no motion sees none', async () => {
    page = (await STATES['loading']?.(desk)) ?? page;
    const moving = () => page.evaluate(() => document.getAnimations().length);
    expect(await moving()).toBeGreaterThan(0);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await moving()).toBe(0);
  });
});
