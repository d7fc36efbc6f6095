import { DatabaseSync } from 'node:sqlite';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { faultsInEachLook } from '../on-demand/accessibility.ts';
import { type Visit, visitAgain } from '../on-demand/chromium.ts';
import { type OrderOutcome, orderInput, orderOutcome } from './orders-client.ts';
import { startTestPages, takePicture } from './test-pages.ts';

/** The desk in a browser. `orders.judging.test.ts` tests its operation and scopes without one. */

const pages = await startTestPages();
const { supergraph, desk, shopGateway, tab: page } = pages;
afterAll(() => pages.stop());

/** Orders an item at the gateway of the shop. */
function buy(deviceToken: string, changes: Readonly<Record<string, unknown>> = {}): Promise<OrderOutcome> {
  return orderOutcome(shopGateway.url, orderInput({ deviceToken, ...changes }));
}

// The newest is the last.
await buy('sandbox:ios');
const database = new DatabaseSync(pages.ordersFile, { timeout: 5_000 });
database.exec(`UPDATE checkouts SET sealed = substr(sealed, 1, length(sealed) - 4) || 'AAAA'
  WHERE id = (SELECT MAX(id) FROM checkouts)`);
database.close();
await buy('sandbox:error:500');
await buy('made-up', { item: 'Desk' });
await buy('sandbox:web:BROWSER_INCOGNITO_MODE,WHITELIST_IP');
await buy('sandbox:android:EMULATOR,VPN_ENABLED@emulator');
const events = supergraph.events();

let visited: Visit;
beforeEach(async () => {
  visited = await visitAgain(page, desk.origin);
});
afterEach(() => {
  expect(visited.complaints).toEqual([]);
  // However often somebody looks.
  expect(supergraph.events()).toBe(events);
});

async function signIn(person: string): Promise<string> {
  await page.getByRole('button', { name: person }).click();
  await page.getByText(/^\d+ newest$|risk:read\./).waitFor();
  return page.getByRole('status').innerText();
}

/** The rows of the table, each as the texts of its columns without the time. */
const rows = () =>
  page.locator('tbody tr').evaluateAll((all) =>
    all.map((row) =>
      [...row.querySelectorAll('td')]
        .slice(1)
        .map((cell) => cell.textContent)
        .join(' | '),
    ),
  );

describe("the analyst's desk", () => {
  test('an analyst with the scope risk:read sees decision, rule, signals and captcha of each checkout', async () => {
    expect(await signIn('Grace, analyst')).toMatch(/^\d+ newest$/);
    expect((await rows()).slice(0, 5)).toEqual([
      'Vase | Ada | Challenged | Challenge | serious | EMULATOR, VPN_ENABLED | asked, not solved',
      'Vase | Ada | Refused | Deny | listed | BROWSER_INCOGNITO_MODE, WHITELIST_IP | not asked',
      'Desk | Ada | Refused | Not judged: forged token | none | none | not asked',
      'Vase | Ada | Challenged | Not judged: outage | none | none | asked, not solved',
      // A record that cannot be opened leaves the other rows as they are.
      'Vase | Ada | Placed | Allow | unreadable | none | not asked',
    ]);
    expect(await faultsInEachLook(page)).toEqual([]);
    await takePicture(page, 'desk');
  });

  test('support without the scope risk:read sees no checkout', async () => {
    expect(await signIn('Ada, support')).toMatch(/^Your account does not have the scope risk:read\./);
    expect(await rows()).toEqual([]);
    expect(await faultsInEachLook(page)).toEqual([]);
  });
});
