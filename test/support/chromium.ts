import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { describe } from 'vitest';

/** Where Debian's package puts it. */
const CHROMIUM = '/usr/bin/chromium';
const MISSING = `there is no ${CHROMIUM}, which "apt-get install -y chromium" brings`;

/**
 * A group of tests that need a browser. Where there is none they are skipped, and their name says so; where
 * REQUIRE_CHROMIUM is set, as in CI, that is an error.
 */
export function describeInChromium(name: string, tests: () => void): void {
  if (existsSync(CHROMIUM)) {
    describe(name, { timeout: 60_000 }, tests);
  } else {
    if (process.env['REQUIRE_CHROMIUM']) throw new Error(MISSING);
    process.stderr.write(`Skipped: ${name}. Reason: ${MISSING}.\n`);
    describe.skip(`${name} (skipped: ${MISSING})`, tests);
  }
}

/**
 * Starts Chromium without a window, and without any name that it could resolve: the tests ask nobody on the internet.
 * Playwright's own way to block requests would not do, because with it Playwright answers the CORS preflights itself.
 * Whoever starts one closes it.
 */
export function launchChromium(): Promise<Browser> {
  const args = ['--no-sandbox', '--headless=new', '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1'];
  // Without it the browser starts another process that draws in software what a page of text does not need.
  args.push('--disable-gpu');
  return chromium.launch({ executablePath: CHROMIUM, args, timeout: 30_000 });
}

/** A page with a profile of its own, and what it did so far. */
export interface Visit {
  readonly page: Page;
  /** The address of every request. */
  readonly requested: string[];
  /** Every error on its console, and every exception that nobody caught. */
  readonly complaints: string[];
}

const VIEWPORT = { width: 1100, height: 800 };

/** Opens a page. Whoever opens one closes its context. */
export async function visit(browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  context.setDefaultTimeout(30_000);
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
  await page.setViewportSize(VIEWPORT);
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
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
