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

/** Opens a tab. A click is lost while the tabs still move to their places. */
async function openTab(name: string) {
  const tab = page.getByRole('tab', { name });
  const isOpen = async () => {
    await tab.click();
    return tab.getAttribute('aria-selected');
  };
  await expect.poll(isOpen, { timeout: 10_000 }).toBe('true');
}

/** Executes what the editors hold, and gives what was sent and answered. A press is repeated until it sends something. */
async function execute(operationName: string) {
  const sent: Request[] = [];
  page.on('request', (request) => request.postDataJSON()?.query?.includes(operationName) && sent.push(request));
  const press = async () => {
    if (sent.length === 0) await page.getByRole('button', { name: 'Execute query' }).click();
    return sent.length;
  };
  await expect.poll(press, { timeout: 15_000, interval: 1_000 }).toBe(1);
  const response = await sent[0]?.response();
  return { variables: sent[0]?.postDataJSON().variables, data: (await response?.json())?.data };
}

test('without the internet GraphiQL takes the place of Apollo Sandbox, and each visit has a new challenge', async () => {
  await page.waitForURL(`${app.url}/graphiql`);
  const lotNumbers: string[] = [];
  for (let visits = 0; visits < 2; visits += 1) {
    await visitAgain(page, `${app.url}/graphiql`);
    await openTab('ValidateCaptcha');
    const { variables, data } = await execute('ValidateCaptcha');
    expect(data.validateCaptcha).toMatchObject({ __typename: 'CaptchaPassed' });
    lotNumbers.push(variables.input.lotNumber);
  }
  expect(new Set(lotNumbers).size).toBe(2);
});
