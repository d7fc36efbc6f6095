import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, launchChromium, type Page, visit } from '../on-demand/chromium.ts';
import { composeShopVariant } from './compose.ts';
import { startHiveGateway } from './gateways.ts';
import type { Running } from './listen.ts';
import { type PageServer, startPageServer } from './page-server.ts';
import { asCustomer, createSessions } from './people.ts';
import { SECRETS } from './test-secrets.ts';
import { startTestSupergraph, type TestSupergraph } from './test-supergraph.ts';

/** Both pages of the example with their gateways, in front of a supergraph that the test controls, and a browser. */
export interface TestPages {
  readonly browser: Browser;
  /** A page in it, for one test after the other. */
  readonly tab: Page;
  readonly supergraph: TestSupergraph;
  readonly shop: PageServer;
  readonly shopGateway: Running;
  readonly desk: PageServer;
  readonly deskGateway: Running;
  /** The file of the order subgraph's database. */
  readonly ordersFile: string;
  stop(): Promise<void>;
}

/** Takes the picture of the README, where `PICTURES=1 npm run test:all` asks for it. */
export async function takePicture(page: Page, name: 'shop' | 'desk'): Promise<void> {
  if (!process.env['PICTURES']) return;
  await page.setViewportSize({ width: 1020, height: 580 });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.screenshot({ path: join(import.meta.dirname, `${name}.png`) });
}

export async function startTestPages(): Promise<TestPages> {
  const folder = await mkdtemp(join(tmpdir(), 'device-trust-pages-'));
  const ordersFile = join(folder, 'orders.sqlite');
  const sessions = createSessions();
  const [browser, supergraph] = await Promise.all([launchChromium(), startTestSupergraph({ ordersFile })]);
  const [shop, desk] = await Promise.all([startPageServer('shop', supergraph), startPageServer('desk', { sessions })]);
  const [shopGateway, deskGateway] = await Promise.all([
    startHiveGateway(await composeShopVariant(supergraph.subgraphs, SECRETS), {
      identify: asCustomer,
      secrets: SECRETS,
      pageOrigin: shop.origin,
    }),
    startHiveGateway(supergraph.supergraphSdl, {
      identify: sessions.identify,
      secrets: SECRETS,
      pageOrigin: desk.origin,
    }),
  ]);
  shop.use(shopGateway.url);
  desk.use(deskGateway.url);
  const { page: tab } = await visit(browser, shop.origin);
  const stop = async () => {
    await browser.close();
    await Promise.all([shopGateway.stop(), deskGateway.stop(), shop.stop(), desk.stop()]);
    await supergraph.stop();
    await rm(folder, { recursive: true });
  };
  return { browser, tab, supergraph, shop, shopGateway, desk, deskGateway, ordersFile, stop };
}
