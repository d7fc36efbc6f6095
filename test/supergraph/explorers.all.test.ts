import type { Request } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { startInSandboxMode } from '../support/app.ts';
import { launchChromium, visit, visitAgain } from '../support/chromium.ts';

/** The pages for people in development, in a browser that reaches this machine and nothing else. */

const [browser, app] = await Promise.all([launchChromium(), startInSandboxMode()]);
const { page } = await visit(browser, app.url);
afterAll(async () => {
  await browser.close();
  await app.stop();
});

/** Waits until a part of the page holds this text. */
const shows = (part: string, text: string) => page.locator(`${part} .view-lines`).filter({ hasText: text }).waitFor();

/**
 * Executes what the editors hold, and gives what was sent and what was answered, as soon as the page shows it. A press sends
 * nothing while the page has not parsed the operation of another tab yet, so it is repeated until something is sent.
 */
async function execute(operationName: string) {
  await shows('.graphiql-query-editor', operationName);
  const sent: Request[] = [];
  page.on('request', (request) => request.postDataJSON()?.query?.includes(operationName) && sent.push(request));
  const press = async () => {
    if (sent.length === 0) await page.getByRole('button', { name: 'Execute query' }).click();
    return sent.length;
  };
  await expect.poll(press, { timeout: 15_000, interval: 1_000 }).toBe(1);
  const response = await sent[0]?.response();
  await shows('.graphiql-response', '"data"');
  return { variables: sent[0]?.postDataJSON().variables, data: (await response?.json())?.data };
}

/** Opens a tab. A click is lost while the tabs still move to their places. */
async function openTab(name: string) {
  const tab = page.getByRole('tab', { name });
  const isOpen = async () => {
    await tab.click();
    return tab.getAttribute('aria-selected');
  };
  await expect.poll(isOpen, { timeout: 10_000 }).toBe('true');
}

test('without the internet the subgraph shows GraphiQL in place of Apollo Sandbox, with an operation that works', async () => {
  await page.waitForURL(`${app.url}/graphiql`);
  await shows('.graphiql-editor-tool', 'sandbox:android:EMULATOR,VPN_ENABLED');
  const { data } = await execute('DeviceFingerprint');
  expect(data.deviceFingerprint).toMatchObject({
    clientType: 'ANDROID',
    signals: [{ name: 'EMULATOR' }, { name: 'VPN_ENABLED' }],
  });
});

test('it has a tab for each operation, and each visit a new challenge in that of the captcha', async () => {
  const lotNumbers: string[] = [];
  for (let visits = 0; visits < 2; visits += 1) {
    await visitAgain(page, `${app.url}/graphiql`);
    await page.getByRole('tab').first().waitFor();
    expect(await page.locator('.graphiql-tab').allInnerTexts()).toEqual(
      ['DeviceFingerprint', 'SignalCatalogue', 'ValidateCaptcha'].map((name) => expect.stringContaining(name)),
    );
    await openTab('ValidateCaptcha');
    const { variables, data } = await execute('ValidateCaptcha');
    expect(data.validateCaptcha).toMatchObject({ __typename: 'CaptchaPassed' });
    lotNumbers.push(variables.input.lotNumber);
  }
  expect(new Set(lotNumbers).size).toBe(2);
  await openTab('SignalCatalogue');
  expect((await execute('SignalCatalogue')).data.signalCatalogue).toHaveLength(51);
});
