import fc from 'fast-check';
import { Pool } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { buildSchema } from '../../src/graphql/schema.ts';
import { answer, startHostile } from '../support/hostile.ts';
import { ask } from '../support/requests.ts';
import { ANDROID, FAIL } from './documented.ts';
import { startAgainst } from './expectations.ts';
import { expectNothingUnhandled } from './process-watch.ts';
import { CANARY } from './random-choices.ts';
import { createLogCheck, expectKnownErrors, lists, TEN_THOUSAND } from './random-inputs.ts';
import { createRequestMaker } from './random-requests.ts';

/** What holds for every request, tried on ten thousand hostile ones. */

const AT_ONCE = 20;

expectNothingUnhandled();

async function start() {
  const [judged, no] = [answer(200, JSON.stringify(ANDROID)), answer(200, JSON.stringify(FAIL))];
  const upstream = await startHostile((exchange) =>
    (exchange.request.startsWith('POST /validate') ? no : judged)(exchange),
  );
  onTestFinished(upstream.stop);
  const app = await startAgainst(upstream, 10_000);
  onTestFinished(app.stop);
  return { upstream, app };
}

test('every request is answered with data or an error of the catalogue, and no value comes back or is logged', {
  timeout: 300_000,
}, async () => {
  const { upstream, app } = await start();
  const pool = new Pool(app.url, { connections: AT_ONCE });
  onTestFinished(() => pool.close());
  const expectCleanLog = createLogCheck(app);
  const makeRequest = createRequestMaker(buildSchema());
  const seen = { data: 0, refused: 0 };

  async function send(body: string): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const response = await pool.request({ path: '/graphql', method: 'POST', headers, body });
    const text = await response.body.text();
    const { data, errors } = JSON.parse(text);
    expectKnownErrors(errors);
    expect(text).not.toContain(CANARY);
    // 503 is how a process says that it is busy, and this one does all the asking as well.
    expect([200, 400, 503]).toContain(response.statusCode);
    seen[data ? 'data' : 'refused'] += 1;
  }

  await fc.assert(
    fc.asyncProperty(lists(AT_ONCE, 120), async (requests) => {
      await Promise.all(requests.map((numbers) => send(makeRequest(numbers))));
      expectCleanLog();
    }),
    { numRuns: TEN_THOUSAND / AT_ONCE },
  );
  // Some of them were refused, and some were executed.
  for (const count of [seen.data, seen.refused, upstream.requests]) expect(count).toBeGreaterThan(TEN_THOUSAND / 10);
  expect((await ask(app.graphqlUrl, '{ signalCatalogue { code } }')).data.signalCatalogue).toHaveLength(51);
});
