import { describe, expect, type TestContext, test } from 'vitest';
import { times } from '../support/times.ts';
import {
  ATTESTING,
  attested,
  type Outcome,
  proceeded,
  serves,
  TO_FIRST,
  unavailable,
  untilDown,
  verifyPeople,
} from './captchas.ts';
import { startBoth, verify } from './support.ts';

/** Who gets what may proceed in an outage: people, the people of a network, and whoever is neither; `test/server/trusted-headers.test.ts` has who is which. */

const ROUTER = { 'router-authorization': 'the-secret-of-the-router' };
const ORDERS = { name: 'orders', secret: 'the-secret-of-orders', scopes: [] };
const DESK = { name: 'desk', secret: 'the-secret-of-the-desk', scopes: [] };
type Headers = Readonly<Record<string, string>>;
const by = (name: number | string): Headers => ({ ...ROUTER, 'x-user-id': `${name}` });
const from = (address: string): Headers => ({ ...ROUTER, 'x-client-ip': address });

/** An app behind a router that names the person and the address. */
async function start(context: TestContext) {
  const metadata = { ipAddr: { header: 'x-client-ip' } } as const;
  const trustedHeaders = { subject: 'x-user-id', scopes: undefined, metadata };
  const services = [ORDERS, DESK];
  const more = { ...ATTESTING, routerSecrets: [ROUTER['router-authorization']], services, trustedHeaders };
  const { upstream, app } = await startBoth(context, serves, 3_000, more);
  return {
    app,
    /** The service fails, and the process knows it. Whoever asks meanwhile is nobody, so nothing is taken. */
    goDown: async () => {
      upstream.fail(unavailable);
      await untilDown(app, () => verify(app, {}, ROUTER));
    },
    /** So many ask at once, counted from 0. */
    ask: (count: number, headersOf: (n: number) => Headers): Promise<Outcome[]> =>
      Promise.all(times(count, (n) => verify(app, TO_FIRST, headersOf(n)))),
  };
}

let asked = 0;
/** Takes turns between these texts. */
const oneOf = (...texts: readonly string[]) => texts[asked++ % texts.length] ?? '';

describe.concurrent('in an outage', () => {
  test.for<[string, number, (last: string) => Headers]>([
    ['person', 3, (last) => ({ ...by(last), 'x-client-ip': `203.0.113.${oneOf('9', '10')}` })],
    ['IPv4 address', 12, (last) => from(`203.0.113.${last}`)],
  ])('the budget over HTTP: one %s gets its share, and others get theirs', async ([, most, nameOf], context) => {
    const { app, goDown, ask } = await start(context);
    await verifyPeople(app, 30, (n) => nameOf(`${n + 1}`));
    await goDown();
    const ofOne = await ask(40, () => nameOf('1'));
    expect([proceeded(ofOne), attested(ofOne)]).toEqual([most, most]);
    expect(ofOne.at(-1)).toMatchObject({ attestation: null, message: expect.stringMatching(/again in a minute/) });
    expect(attested(await ask(5, (n) => nameOf(`${n + 2}`)))).toBe(5);
    // Nobody that a header names.
    expect(proceeded(await ask(5, () => ROUTER))).toBe(0);
  });

  test('the budget over HTTP: each of two services has a quarter of the first ten captchas', async (context) => {
    const { goDown, ask } = await start(context);
    await goDown();
    const byOrders = (n: number): Headers => ({ authorization: `Bearer ${ORDERS.secret}`, 'x-user-id': `${n}` });
    expect(proceeded(await ask(8, byOrders))).toBe(2);
  });
});
