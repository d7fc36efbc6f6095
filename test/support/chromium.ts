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

/** Opens a page. Whoever opens one closes its context. */
export async function visit(browser: Browser, url: string): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1100, height: 800 } });
  context.setDefaultTimeout(30_000);
  const requested: string[] = [];
  const complaints: string[] = [];
  const page = await context.newPage();
  page.on('request', (request) => requested.push(request.url()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await page.goto(url);
  return { page, requested, complaints };
}
