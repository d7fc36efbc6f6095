import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { faultsInEachLook } from '../support/accessibility.ts';
import { describeInChromium, visitAgain } from '../support/chromium.ts';
import { startTestShop, type TestShop } from './test-shop.ts';

/** Who can use the shop: on a phone and on a wide screen, in the dark, with a keyboard alone, with a screen reader. */

const SCREENSHOTS = join(import.meta.dirname, 'screenshots');

/** How each state is reached from a page that was just opened. */
const STATES: Readonly<Record<string, (page: Page) => Promise<unknown>>> = {
  open: async (page) => page.getByRole('button', { name: 'Place order' }).waitFor(),
  asking: async (page) => {
    // The answer never comes.
    await page.route('**/graphql', () => {});
    await page.getByRole('button', { name: 'Place order' }).click();
    await page.locator('.outcome.asking').waitFor();
  },
  captcha: async (page) => {
    await page.getByLabel('Which device buys?').selectOption('An emulator');
    await page.getByRole('button', { name: 'Place order' }).click();
    await page.getByRole('dialog').waitFor();
  },
  placed: (page) => buy(page, 'A clean phone', 'placed'),
  refused: (page) => buy(page, 'A phone on a blacklist', 'refused'),
  failed: async (page) => {
    await page.route('**/graphql', (route) => route.abort());
    await buy(page, 'A clean phone', 'failed');
  },
  'sold out': async (page) => {
    await page.getByRole('radio', { name: 'Signed print' }).check();
    await buy(page, 'A clean phone', 'refused');
  },
};

async function buy(page: Page, device: string, kind: string) {
  await page.getByLabel('Which device buys?').selectOption(device);
  await page.getByRole('button', { name: 'Place order' }).click();
  await page.locator(`.outcome.${kind}`).waitFor();
}

describeInChromium('the shop', () => {
  let shop: TestShop;
  let page: Page;
  beforeAll(async () => {
    shop = await startTestShop();
    page = shop.tab;
  }, 30_000);
  afterAll(() => shop.stop());
  beforeEach(() => visitAgain(page, shop.page.origin));

  test.each(Object.entries(STATES))('%s: axe finds no violation, and nothing is cut off', async (state, reach) => {
    // Nothing that a finger has to find is out of its reach on a phone.
    await page.setViewportSize({ width: 360, height: 800 });
    await reach(page);
    expect(await faultsInEachLook(page, join(SCREENSHOTS, `shop-${state.replace(' ', '-')}`), true)).toEqual([]);
  });

  test('everything can be done with the keyboard alone, and the focus is always to be seen', async () => {
    const focused = () =>
      page.evaluate(() => {
        const element = document.activeElement;
        const outlined = element?.closest('.card') ?? element;
        const { outlineStyle, outlineWidth } = getComputedStyle(outlined ?? document.body);
        const name = element instanceof HTMLInputElement ? element.value : element?.id || element?.textContent;
        return `${name?.trim()} ${outlineStyle} ${outlineWidth}`;
      });
    const press = async (key: string) => {
      await page.keyboard.press(key);
      return focused();
    };
    const visible = (name: string) => `${name} solid 3px`;
    expect(await press('Tab')).toBe(visible('Skip to your order'));
    expect(await press('Tab')).toBe(visible('Vase'));
    expect(await press('ArrowRight')).toBe(visible('Pen'));
    expect(await press('Tab')).toBe(visible('place'));
    expect(await press('Tab')).toBe(visible('device'));
    await page.keyboard.type('An emulator');
    expect(await press('Shift+Tab')).toBe(visible('place'));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await focused()).toBe(visible('I am a person'));
    await page.keyboard.press('Escape');
    await page.getByText('You closed the check.').waitFor();
    expect(await focused()).toBe(visible('place'));
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText(/Pen for €2\.00\./).waitFor();
    expect(await focused()).toBe(visible('place'));
  });

  test('a fault would be found: a picture without a name, a box that is too wide, and text that is lost in the dark', async () => {
    await page.evaluate(() => {
      const image = document.createElement('img');
      image.width = 3_000;
      image.className = 'wide';
      document.querySelector('main')?.append(image);
      document.querySelector('h1')?.style.setProperty('color', 'light-dark(black, #333)');
    });
    expect(await faultsInEachLook(page, join(SCREENSHOTS, 'shop-faults'), false)).toEqual(
      [360, 1600].flatMap((width) => [
        expect.stringMatching(`^${width}-light: image-alt: .*img`),
        `${width}-light: IMG wide`,
        expect.stringMatching(`^${width}-dark: color-contrast: .*h1`),
        `${width}-dark: IMG wide`,
      ]),
    );
  });

  test('who wants no motion sees none', async () => {
    const moving = () => page.evaluate(() => document.getAnimations().length);
    await STATES['asking']?.(page);
    expect(await moving()).toBeGreaterThan(0);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await moving()).toBe(0);
  });
});
