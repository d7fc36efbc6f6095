import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

export type { Page } from 'playwright-core';

const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/**
 * Starts Chromium without a window, and without any name that it could resolve: the tests ask nobody on the internet.
 * Playwright's own way to block requests would not do, because with it Playwright answers the CORS preflights itself.
 * Whoever starts one closes it.
 */
export async function launchChromium(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) {
    throw new Error(`There is no ${CHROMIUM}: run "apt-get install -y chromium", or say in CHROMIUM where it is.`);
  }
  const args = ['--no-sandbox', '--headless=new', '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'];
  // Without it the browser starts another process that draws in software what a page of text does not need.
  args.push('--disable-gpu');
  return chromium.launch({ executablePath: CHROMIUM, args });
}

/** A page, and what it did since it was opened. */
export interface Visit {
  readonly page: Page;
  /** The address of every request. */
  readonly requested: string[];
  /** Every error on its console, and every exception that nobody caught. */
  readonly complaints: string[];
}

/**
 * Opens an address in a page with a profile of its own. Whoever opens one closes its context. The page lacks what a phone lacks on
 * plain http, and Safari before 17.4.
 */
export async function visit(browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext();
  await context.addInitScript('delete Crypto.prototype.randomUUID; delete AbortSignal.any;');
  return watch(await context.newPage(), url);
}

/**
 * Opens an address in a page that was used before, as if it were a new one: without its session, routes, listeners, size or
 * media. The process of the page stays, which takes a third of the time of another visit.
 */
export async function visitAgain(page: Page, url: string): Promise<Visit> {
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.evaluate(() => sessionStorage.clear());
  // An address that differs in its fragment alone would load nothing.
  await page.goto('about:blank');
  for (const event of ['request', 'response', 'pageerror', 'console']) page.removeAllListeners(event);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: null });
  return watch(page, url);
}

async function watch(page: Page, url: string): Promise<Visit> {
  const requested: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await page.goto(url);
  return { page, requested, complaints };
}
