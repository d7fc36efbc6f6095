import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeInChromium, visit } from '../support/chromium.ts';
import { post } from '../support/requests.ts';
import { CROSS_SUBGRAPH_QUERY } from './cross-subgraph-query.ts';
import { openCheckout, rowsOf, startTestDesk, type TestDesk, visitDesk } from './test-desk.ts';

/** The desk makes no event unless somebody asks for one, and shows nothing about devices to people without the scope. */

describeInChromium("the analyst's desk", () => {
  let desk: TestDesk;
  beforeAll(async () => {
    desk = await startTestDesk();
  }, 30_000);
  afterAll(() => desk.stop());

  test('is opened 100 times, and each checkout was one event; asking anew is one more', async () => {
    const before = desk.events();
    expect(await desk.buy('sandbox:ios')).toMatchObject({ __typename: 'OrderPlaced' });
    expect(await desk.buy('sandbox:android:EMULATOR')).toMatchObject({ __typename: 'ChallengeRequired' });
    expect(await desk.buy('sandbox:web:WHITELIST_IP')).toMatchObject({ __typename: 'OrderRefused' });
    const { page } = await visitDesk(desk);
    const decided = (await rowsOf(page)).slice(0, 3).map(({ status, decision, rule }) => [status, decision, rule]);
    expect(decided).toEqual([
      ['Refused', 'Deny', 'listed'],
      ['Challenged', 'Challenge', 'serious'],
      ['Placed', 'Allow', 'otherwise'],
    ]);
    for (let row = 0; row < 3; row += 1) {
      await openCheckout(page, row);
      // The list and the open checkout are both fetched with each reload.
      for (let time = 0; time < 33; time += 1) {
        await page.reload({ waitUntil: 'commit' });
        await page.locator('.first .decided').waitFor();
      }
    }
    await page.reload({ waitUntil: 'commit' });
    await page.locator('.first .decided').waitFor();
    expect(desk.events()).toBe(before + 3);

    await page.getByRole('button', { name: 'Ask anew' }).click();
    await page.getByRole('button', { name: 'Make a new event' }).click();
    await page.locator('.later').waitFor();
    expect(desk.events()).toBe(before + 4);
    await page.context().close();
  }, 180_000);

  /** Every answer that a page has got so far. */
  function record(page: Page): Promise<string>[] {
    const bodies: Promise<string>[] = [];
    page.on('response', (response) => {
      if (response.url() === desk.gateway.url) bodies.push(response.text().catch(() => ''));
    });
    return bodies;
  }

  test('shows nothing about devices to a person without the scope, in no answer', async () => {
    const token = 'sandbox:android:EMULATOR#canary';
    await desk.buy(token);
    const analyst = await visit(desk.browser, desk.page.origin);
    const seen = record(analyst.page);
    await analyst.page.getByRole('button', { name: 'Grace, analyst' }).click();
    await openCheckout(analyst.page, 0);
    await analyst.page.locator('.first .decided').waitFor();
    const open = (await Promise.all(seen)).join('\n');
    const deviceId = /"device":\{[^}]*?"id":"([0-9a-f]{64})"/.exec(open)?.[1] ?? 'no device id';
    const secrets = ['EMULATOR', 'serious', 'CHALLENGE', 'bec7b5666fdf', '203.0.113.10', 'Pixel 8', deviceId];
    // An analyst sees them all, but no token and no sealed text.
    expect(secrets.filter((secret) => !open.includes(secret))).toEqual([]);
    expect(open).not.toMatch(/canary|sandbox:|eyJ/);
    const { hash } = new URL(analyst.page.url());
    await analyst.page.context().close();

    const support = await visit(desk.browser, `${desk.page.origin}/${hash}`);
    const heard = record(support.page);
    await support.page.getByRole('button', { name: 'Ada, support' }).click();
    await support.page.locator('#detail[aria-busy=false] h2').waitFor({ state: 'attached' });
    await support.page.getByText('It needs the scope risk:read').first().waitFor();
    const answers = await Promise.all(heard);
    expect(answers.length).toBeGreaterThan(1);
    const { session } = await support.page.evaluate(() => ({ session: sessionStorage.getItem('session') ?? '' }));
    // The same questions and others, sent without the page.
    const id = new URLSearchParams(hash.slice(1)).get('checkout');
    for (const query of [
      `{ checkouts { items { id item judgement { sealed eventId } } } }`,
      `{ checkout(id: "${id}") { id status judgement { sealed device { id } } laterJudgements { askedBy } } }`,
      `mutation { judgeAgain(id: "${id}") { id judgement { sealed } } }`,
      `{ order(id: "order-1") { item judgement { sealed decision { rule } } } }`,
      CROSS_SUBGRAPH_QUERY,
    ]) {
      const headers = { authorization: `Bearer ${JSON.parse(session).token}`, 'x-user-scopes': 'risk:read' };
      const { text, errors } = await post(desk.gateway.url, JSON.stringify({ query }), headers);
      expect(errors?.map(({ extensions }) => extensions.code)).toContain('FORBIDDEN');
      answers.push(text);
    }
    const all = answers.join('\n');
    expect([...secrets, 'eyJ', 'sandbox:', 'canary'].filter((secret) => all.includes(secret))).toEqual([]);
    expect(await support.page.locator('a.row').count()).toBe(0);
    expect(support.complaints).toEqual([]);
    await support.page.context().close();
  });
});
