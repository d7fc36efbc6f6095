import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** From the smallest phone to a wide screen, in px. */
const WIDTHS = [320, 360, 768, 1280, 1600];

/** Axe's rules about colours, without the one that it leaves out by default: with many texts, most of its time is theirs. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];
const ONLY_COLOURS: axe.RunOptions = { runOnly: COLOUR_RULES };
const NO_COLOURS: axe.RunOptions = {
  rules: Object.fromEntries(COLOUR_RULES.map((rule) => [rule, { enabled: false }])),
};

/** What is wrong with the page as it stands, at each width, in light and in dark: what axe finds, and what is cut off. */
export async function faultsInEachLook(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    const found = [...(await violationsIn(page, NO_COLOURS)), ...(await cutOffIn(page))];
    faults.push(...found.map((fault) => `${width}: ${fault}`));
    // A scheme changes nothing but colours, and a width changes no colour; but it can change what is behind a text.
    if (width !== WIDTHS.at(0) && width !== WIDTHS.at(-1)) continue;
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const pale = await violationsIn(page, ONLY_COLOURS);
      faults.push(...pale.map((fault) => `${width}-${colorScheme}: ${fault}`));
    }
  }
  return faults;
}

/**
 * What axe finds wrong with the page as it stands: the rule and the elements. It says nothing about what it cannot decide,
 * such as a contrast over a picture.
 */
async function violationsIn(page: Page, options: axe.RunOptions): Promise<string[]> {
  // Through the debugger, because the page's own policy lets no other script in.
  if (await page.evaluate('globalThis.axe === undefined')) await page.evaluate(axe.source);
  const run = `axe.run(${JSON.stringify({ ...options, resultTypes: ['violations'] })})`;
  const violations: axe.Result[] = await page.evaluate(`${run}.then(({ violations }) => violations)`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

/** Every box that ends beyond the window or has to be scrolled sideways, and every text that crosses the border of a box. */
function cutOffIn(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults = new Set<string>();
    const edge = document.documentElement.clientWidth;
    const isUnseen = (element: Element) => !element.checkVisibility() || isClipped(element);
    const isClipped = (element: Element): boolean =>
      getComputedStyle(element).clipPath !== 'none' ||
      (element.parentElement !== null && isClipped(element.parentElement));
    const boxes = [...document.querySelectorAll('body, body *')].filter((element) => !isUnseen(element));
    for (const box of boxes) {
      const { display, overflowX, overflowY } = getComputedStyle(box);
      if (display === 'inline' || box.closest('svg, select')) continue;
      const { left, right, top, bottom } = box.getBoundingClientRect();
      const name = `${box.tagName} #${box.id} .${box.className}`;
      if (left < -0.5 || right > edge + 0.5) faults.add(`beyond the window: ${name}`);
      if (overflowX !== 'visible' && box.scrollWidth > box.clientWidth + 1) faults.add(`scrolls sideways: ${name}`);
      const texts = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const text = texts.currentNode;
        // A dialog is drawn above its ancestors and not in them.
        const isOutside = text.parentElement?.closest('dialog') !== box.closest('dialog');
        if (!text.parentElement || isOutside || isUnseen(text.parentElement)) continue;
        const range = document.createRange();
        range.selectNodeContents(text);
        for (const drawn of range.getClientRects()) {
          const isAcross = drawn.left < left - 1 || drawn.right > right + 1;
          const isAbove = overflowY === 'visible' && (drawn.top < top - 2 || drawn.bottom > bottom + 2);
          if (isAcross || isAbove) faults.add(`crosses the border of ${name}: ${text.textContent}`);
        }
      }
    }
    return [...faults];
  });
}
