import fc from 'fast-check';
import type { GraphQLSchema } from 'graphql';
import { Pool } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { buildSchema } from '../../src/graphql/schema.ts';
import { CAPTCHA_MUTATION, ENTITIES_QUERY, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { answer } from '../support/hostile.ts';
import { ask } from '../support/requests.ts';
import { ANDROID, FAIL } from './documented.ts';
import { createDocumentMaker } from './random-documents.ts';
import { CANARY, COUNT, createChoices, createLogCheck, expectKnownErrors, lists } from './random-inputs.ts';
import { startBoth } from './support.ts';

/** What holds for every request, tried on a thousand hostile ones: JSON text, so that they can hold what no JavaScript value is. */

const LITERALS = '1e400 0 -1 9007199254740993 0.5 true null "" "\\ud800" "2026-03-01T09:30:00Z"'.split(' ');
/** What a variable may be called, and what a field of one. */
const NAMES = [
  ...'token metadata eventType eventTime publicKey representations input __typename accountId additional'.split(' '),
  ...'captchaId lotNumber captchaOutput passToken genTime __proto__ constructor x'.split(' '),
];
const EXTRAS = ['operationName', 'extensions', 'query', 'variables', 'id', '__proto__'];
const KNOWN = [FINGERPRINT_QUERY, CAPTCHA_MUTATION, ENTITIES_QUERY];

/** Gives a function that makes the body of a request of a list of numbers. */
function createRequestMaker(schema: GraphQLSchema): (numbers: readonly number[]) => string {
  const makeDocument = createDocumentMaker(schema);
  return (numbers) => {
    const { upTo, chance, oneOf, several } = createChoices(numbers);
    const entry = (depth: number) => `${JSON.stringify(oneOf(NAMES))}:${json(depth + 1)}`;

    function json(depth: number): string {
      const kind = upTo(depth > 3 ? 3 : 7);
      if (kind < 2) return JSON.stringify(`${CANARY}${upTo(999)}`);
      if (kind === 2) return oneOf(LITERALS);
      if (kind === 3) return chance(1) ? '['.repeat(9_000) + ']'.repeat(9_000) : '[]';
      if (kind === 4) return `[${several(3, () => json(depth + 1), ',')}]`;
      return `{${several(8, () => entry(depth), ',')}}`;
    }

    const variables = `{${several(9, () => entry(0), ',')}}`;
    const extra = chance(4) ? `,${JSON.stringify(oneOf(EXTRAS))}:${json(2)}` : '';
    const query = chance(20) ? oneOf(KNOWN) : makeDocument(numbers.slice(numbers.length / 4));
    return `{"query":${JSON.stringify(query)},"variables":${variables}${extra}}`;
  };
}

const AT_ONCE = 20;

const [judged, no] = [answer(200, JSON.stringify(ANDROID)), answer(200, JSON.stringify(FAIL))];

test('every request is answered with data or an error of the catalogue, and no value comes back or is logged', async () => {
  const { upstream, app } = await startBoth(
    { onTestFinished },
    (exchange) => (exchange.request.startsWith('POST /validate') ? no : judged)(exchange),
    10_000,
  );
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
    { numRuns: COUNT / AT_ONCE },
  );
  // Some of them were refused, and some were executed.
  for (const count of [seen.data, seen.refused, upstream.requests]) expect(count).toBeGreaterThan(COUNT / 50);
  expect((await ask(app.graphqlUrl, '{ signalCatalogue { code } }')).data.signalCatalogue).toHaveLength(51);
});
