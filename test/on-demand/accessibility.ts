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

/** What is wrong with the page as it stands, at each width, in light and in dark: what axe finds, and whether it is too wide. */
export async function faultsInEachLook(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    const contentWidth = await page.evaluate(() => document.documentElement.scrollWidth);
    if (contentWidth > width) faults.push(`${width}: the content is ${contentWidth} px wide`);
    faults.push(...(await violationsIn(page, NO_COLOURS)).map((fault) => `${width}: ${fault}`));
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
