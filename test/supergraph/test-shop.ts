import type { Browser, Page } from 'playwright-core';
import { launchChromium, visit } from '../support/chromium.ts';
import { composeShopVariant } from './compose.ts';
import { startHiveGateway } from './gateways.ts';
import type { Running } from './listen.ts';
import { type PageServer, startPageServer } from './page-server.ts';
import { asCustomer } from './people.ts';
import { startTestSupergraph, type TestSupergraph } from './test-supergraph.ts';

/** The shop with its gateway in front of a supergraph that the test controls, and a browser to visit it. */
export interface TestShop {
  readonly browser: Browser;
  /** A page in it, for one test after the other. */
  readonly tab: Page;
  readonly supergraph: TestSupergraph;
  readonly page: PageServer;
  readonly gateway: Running;
  stop(): Promise<void>;
}

export async function startTestShop(): Promise<TestShop> {
  const [browser, supergraph] = await Promise.all([launchChromium(), startTestSupergraph()]);
  const page = await startPageServer('shop', supergraph);
  const variant = await composeShopVariant(supergraph.subgraphs);
  const gateway = await startHiveGateway(variant, { identify: asCustomer, pageOrigin: page.origin });
  page.use(gateway.url);
  const { page: tab } = await visit(browser, page.origin);
  const stop = async () => {
    await browser.close();
    await gateway.stop();
    await page.stop();
    await supergraph.stop();
  };
  return { browser, tab, supergraph, page, gateway, stop };
}
