import type { Browser, Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startInSandboxMode, type TestApp } from '../support/app.ts';
import { describeInChromium, launchChromium, visit } from '../support/chromium.ts';
import { CROSS_SUBGRAPH_QUERY } from './cross-subgraph-query.ts';
import { startHiveGateway } from './gateways.ts';
import type { Running } from './listen.ts';
import { STAFF } from './people.ts';
import { startTestSupergraph, type TestSupergraph } from './test-supergraph.ts';

/** Pages for people in development, in a browser that reaches this machine and nothing else. */

describeInChromium('where nothing of the internet can be reached', () => {
  let browser: Browser;
  let page: Page;
  let app: TestApp;
  let supergraph: TestSupergraph;
  let gateway: Running;

  beforeAll(async () => {
    [browser, app, supergraph] = await Promise.all([launchChromium(), startInSandboxMode(), startTestSupergraph()]);
    gateway = await startHiveGateway(supergraph.supergraphSdl, {
      identify: () => STAFF['grace'],
      question: CROSS_SUBGRAPH_QUERY,
    });
  }, 30_000);
  afterAll(async () => {
    await browser.close();
    await gateway.stop();
    await supergraph.stop();
    await app.stop();
  });
  afterEach(() => page.context().close());

  /**
   * Executes what the editors hold, and gives what was sent and what was answered, as soon as the page shows it. A press sends
   * nothing while the page has not parsed the operation of another tab yet, so it is repeated until something is sent.
   */
  async function execute(operationName: string) {
    await shows('.graphiql-query-editor', operationName);
    const sent: Request[] = [];
    page.on('request', (request) => isOf(operationName, request) && sent.push(request));
    let pressed = Number.NEGATIVE_INFINITY;
    const press = async () => {
      if (sent.length === 0 && performance.now() - pressed > 2_000) {
        pressed = performance.now();
        await page.getByRole('button', { name: 'Execute query' }).click();
      }
      return sent.length;
    };
    await expect.poll(press, { timeout: 15_000 }).toBe(1);
    const response = await sent[0]?.response();
    await shows('.graphiql-response', '"data"');
    const answer = await response?.json();
    return { variables: sent[0]?.postDataJSON().variables, data: answer?.data };
  }

  /** Is this a request for this operation? */
  const isOf = (operationName: string, sent: Request) => sent.postDataJSON()?.query?.includes(operationName) === true;

  /** Opens a tab. A click is lost while the tabs still move to their places. */
  async function openTab(name: string) {
    const tab = page.getByRole('tab', { name });
    const isOpen = async () => {
      await tab.click();
      return tab.getAttribute('aria-selected');
    };
    await expect.poll(isOpen, { timeout: 10_000 }).toBe('true');
  }

  /** Waits until a part of the page holds this text. */
  const shows = (part: string, text: string) => page.locator(`${part} .view-lines`).filter({ hasText: text }).waitFor();

  test('the subgraph shows GraphiQL in place of Apollo Sandbox, with an operation that works', async () => {
    ({ page } = await visit(browser, app.url));
    await page.waitForURL(`${app.url}/graphiql`);
    await shows('.graphiql-editor-tool', 'sandbox:android:EMULATOR,VPN_ENABLED');
    const { data } = await execute('DeviceFingerprint');
    expect(data.deviceFingerprint).toMatchObject({
      clientType: 'ANDROID',
      signals: [{ name: 'EMULATOR' }, { name: 'VPN_ENABLED' }],
    });
  });

  test('the subgraph has a tab for each operation, and each visit a new challenge in that of the captcha', async () => {
    ({ page } = await visit(browser, `${app.url}/graphiql`));
    const lotNumbers: string[] = [];
    for (let visits = 0; visits < 2; visits += 1) {
      await page.getByRole('tab').first().waitFor();
      expect(await page.locator('.graphiql-tab').allInnerTexts()).toEqual(
        ['DeviceFingerprint', 'SignalCatalogue', 'ValidateCaptcha'].map((name) => expect.stringContaining(name)),
      );
      await openTab('SignalCatalogue');
      expect((await execute('SignalCatalogue')).data.signalCatalogue).toHaveLength(51);
      await openTab('ValidateCaptcha');
      const { variables, data } = await execute('ValidateCaptcha');
      expect(data.validateCaptcha).toMatchObject({ __typename: 'CaptchaPassed' });
      lotNumbers.push(variables.input.lotNumber);
      await page.reload();
    }
    expect(new Set(lotNumbers).size).toBe(2);
  });

  test('the gateway shows GraphiQL, with a question that crosses all subgraphs and works', async () => {
    ({ page } = await visit(browser, gateway.url));
    const { data } = await execute('Crossing');
    const customers = data.user.orders[0].judgement.device.orders.map((order: Order) => order.customer.name);
    expect(customers).toEqual(['Ada', 'Grace', 'Mallory']);
  });
});

interface Order {
  readonly customer: { readonly name: string };
}
