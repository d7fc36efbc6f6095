import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Browser, Page } from 'playwright-core';
import { launchChromium, type Visit, visit, visitAgain } from '../support/chromium.ts';
import { composeShopVariant } from './compose.ts';
import { startHiveGateway } from './gateways.ts';
import type { Running } from './listen.ts';
import { type OrderOutcome, orderInput, orderOutcome } from './orders-client.ts';
import { type PageServer, startPageServer } from './page-server.ts';
import { asCustomer, createSessions } from './people.ts';
import { startTestSupergraph, type TestSupergraph } from './test-supergraph.ts';

/** The analyst's desk with its gateway, in front of a supergraph that the test controls, and a browser to visit it. */
export interface TestDesk {
  readonly browser: Browser;
  /** A page in it, for one test after the other. */
  readonly tab: Page;
  readonly supergraph: TestSupergraph;
  readonly page: PageServer;
  readonly gateway: Running;
  /** Orders a vase at the gateway of the shop, from this device. */
  buy(deviceToken: string): Promise<OrderOutcome>;
  /** How many events the fingerprint service has counted. */
  events(): number;
  /** Changes the sealed text of the newest checkout, as if somebody had tampered with the database. */
  tamper(): void;
  stop(): Promise<void>;
}

export async function startTestDesk(): Promise<TestDesk> {
  const folder = await mkdtemp(join(tmpdir(), 'device-trust-desk-'));
  const ordersFile = join(folder, 'orders.sqlite');
  const [browser, supergraph] = await Promise.all([launchChromium(), startTestSupergraph({ ordersFile })]);
  const sessions = createSessions();
  const page = await startPageServer('desk', { sessions });
  const { identify } = sessions;
  const gateway = await startHiveGateway(supergraph.supergraphSdl, { identify, pageOrigin: page.origin });
  page.use(gateway.url);
  const { page: tab } = await visit(browser, page.origin);
  const shop = await startHiveGateway(await composeShopVariant(supergraph.subgraphs), { identify: asCustomer });
  return {
    browser,
    tab,
    supergraph,
    page,
    gateway,
    buy: (deviceToken) => orderOutcome(shop.url, orderInput({ deviceToken })),
    events: () => supergraph.asked.filter(({ url }) => url.includes('/fp_query/')).length,
    tamper: () => {
      const database = new DatabaseSync(ordersFile, { timeout: 5_000 });
      database.exec(`UPDATE checkouts SET sealed = substr(sealed, 1, length(sealed) - 4) || 'AAAA'
        WHERE id = (SELECT MAX(id) FROM checkouts)`);
      database.close();
    },
    stop: async () => {
      await browser.close();
      await gateway.stop();
      await shop.stop();
      await page.stop();
      await supergraph.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Opens the desk in its tab, signed in. */
export async function visitDesk(desk: TestDesk, person = 'Grace, analyst', hash = ''): Promise<Visit> {
  const visited = await visitAgain(desk.tab, `${desk.page.origin}/${hash}`);
  await visited.page.getByRole('button', { name: person }).click();
  return visited;
}

/** The rows of the list, each as the texts of its columns. */
export async function rowsOf(page: Page): Promise<Record<string, string>[]> {
  await page.locator('#rows[aria-busy=false]').waitFor();
  return page.locator('a.row').evaluateAll((rows) =>
    rows.map((row) =>
      Object.fromEntries(
        [...row.querySelectorAll<HTMLElement>('[data-column]')].map((cell) => {
          const seen = [...cell.childNodes].filter(
            (node) => !(node instanceof Element && node.classList.contains('unseen')),
          );
          return [cell.dataset['column'], seen.map(({ textContent }) => textContent).join('')];
        }),
      ),
    ),
  );
}

/** Waits until the open checkout is shown, or why it is not. */
export async function openCheckout(page: Page, row: number): Promise<void> {
  await page.locator('a.row').nth(row).click();
  await page.locator('#detail[aria-busy=false] h2').waitFor();
}
