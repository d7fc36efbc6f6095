import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchChromium, type Page, visit } from '../on-demand/chromium.ts';
import { composeShopVariant } from './compose.ts';
import { startHiveGateway } from './gateways.ts';
import { startPageServer } from './page-server.ts';
import { asCustomer, createSessions } from './people.ts';
import { SECRETS } from './test-secrets.ts';
import { startTestSupergraph } from './test-supergraph.ts';

/** Takes the picture of the README, where `PICTURES=1 npm run test:all` asks for it. */
export async function takePicture(page: Page, name: 'shop' | 'desk'): Promise<void> {
  if (!process.env['PICTURES']) return;
  await page.setViewportSize({ width: 1020, height: 580 });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.screenshot({ path: join(import.meta.dirname, `${name}.png`) });
}

/** Both pages of the example with their gateways, in front of a supergraph that the test controls, and a tab of a browser. */
export async function startTestPages() {
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
  return { tab, supergraph, shop, shopGateway, desk, ordersFile, stop };
}
