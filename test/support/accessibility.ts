import axe from 'axe-core';
import type { Page } from 'playwright-core';

/**
 * What axe finds wrong with the page as it stands: the rule and the elements. It says nothing about what it cannot decide,
 * such as a contrast over a picture.
 */
export async function violationsIn(page: Page): Promise<string[]> {
  // Through the debugger, because the page's own policy lets no other script in.
  await page.evaluate(axe.source);
  const violations: axe.Result[] = await page.evaluate('axe.run().then(({ violations }) => violations)');
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`);
}

/** The names of the elements whose content or box ends beyond the right edge of the window. */
export function beyondTheEdge(page: Page): Promise<string[]> {
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
