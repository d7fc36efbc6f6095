import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * What is wrong with the page as it stands, at the width of a phone and of a wide screen, in light and in dark: what axe
 * finds, and what is cut off. Each of the four leaves a screenshot.
 *
 * @param screenshot the path of the screenshots without what tells them apart, such as `-360-light.png`
 */
export async function faultsInEachLook(page: Page, screenshot: string, fullPage: boolean): Promise<string[]> {
  const faults: string[] = [];
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  for (const width of [360, 1600]) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      // The scheme changes colours and nothing else, so the other rules are asked once for each width.
      const found = await violationsIn(page, colorScheme === 'dark' ? COLOUR_RULES : {});
      const beyond = await beyondTheEdge(page);
      faults.push(...[...found, ...beyond].map((fault) => `${width}-${colorScheme}: ${fault}`));
      await page.screenshot({ path: `${screenshot}-${width}-${colorScheme}.png`, fullPage });
    }
  }
  return faults;
}

/** Axe's rules about colours, without the one that it leaves out by default. */
const COLOUR_RULES: axe.RunOptions = { runOnly: ['color-contrast', 'link-in-text-block'] };

/**
 * What axe finds wrong with the page as it stands: the rule and the elements. It says nothing about what it cannot decide,
 * such as a contrast over a picture.
 *
 * @param options by default axe's own rules
 */
async function violationsIn(page: Page, options: axe.RunOptions = {}): Promise<string[]> {
  // Through the debugger, because the page's own policy lets no other script in.
  if (await page.evaluate('globalThis.axe === undefined')) await page.evaluate(axe.source);
  const run = `axe.run(${JSON.stringify({ ...options, resultTypes: ['violations'] })})`;
  const violations: axe.Result[] = await page.evaluate(`${run}.then(({ violations }) => violations)`);
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

/** The names of the elements whose content or box ends beyond the right edge of the window. */
function beyondTheEdge(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const elements = [...document.querySelectorAll('body *')].filter((element) => element.checkVisibility());
    const beyond = elements.filter((element) => {
      const { right, left } = element.getBoundingClientRect();
      return right > width + 0.5 || left < -0.5;
    });
    return beyond.map(({ tagName, className }) => `${tagName} ${className}`);
  });
}
