import fc from 'fast-check';
import { Pool } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { makeUp } from '../graphql/random-operations.ts';
import { CAPTCHA_MUTATION, ENTITIES_QUERY, FINGERPRINT_QUERY } from '../support/graphql.ts';
import { answer } from '../support/hostile.ts';
import { ask } from '../support/requests.ts';
import { ANDROID, FAIL } from './documented.ts';
import { startBoth } from './support.ts';

/** What holds for every request, tried on a thousand hostile ones: JSON text, so that they can hold what no JavaScript value is. */

/** Begins every text that is sent as a value: none may come back, or be logged. */
const CANARY = '§cnry';

/** So many requests are tried: other ones in each run. */
const COUNT = 1_000;

/**
 * Choices that follow from a list of numbers. Each takes the next number; without one it is the first choice. So fast-check
 * makes the result smaller by making the list smaller.
 */
function createChoices(numbers: readonly number[]) {
  let at = 0;
  /** A whole number from 0. */
  const upTo = (most: number) => (numbers[at++] ?? 0) % (most + 1);
  /** True in so many cases of a hundred. */
  const chance = (percent: number) => upTo(99) >= 100 - percent;
  // Safe: nobody chooses from an empty list, so the number is one of its indexes.
  const oneOf = <T>(list: readonly T[]): T => list[upTo(list.length - 1)] as T;
  const several = (most: number, make: (index: number) => string, separator = ' ') =>
    Array.from({ length: upTo(most) }, (_, index) => make(index)).join(separator);
  return { upTo, chance, oneOf, several };
}

/** So many lists of numbers, each of which becomes a request. Shorter ones make simpler ones. */
function lists(count: number, maxLength: number) {
  const list = fc.tuple(fc.nat(), fc.nat({ max: maxLength })).map(([seed, length]) => expand(seed, length));
  return fc.noBias(fc.array(list, { minLength: count, maxLength: count }));
}

/** A list that follows from a seed: far quicker than to have fast-check choose each number. */
function expand(seed: number, length: number): number[] {
  let state = seed;
  return Array.from({ length }, () => {
    // The generator of Numerical Recipes, without its lower half, which repeats itself too soon.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state >>> 16;
  });
}

/** Every code of the catalogue that is not our own mistake (schema/README.md, Errors). */
const CODES = new Set([
  ...['BAD_USER_INPUT', 'DEVICE_TOKEN_REJECTED', 'UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE', 'UPSTREAM_REJECTED'],
  ...['UPSTREAM_PROTOCOL_ERROR', 'OVERLOADED', 'BAD_REQUEST', 'GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED'],
  ...['OPERATION_RESOLUTION_FAILURE', 'PERSISTED_QUERY_NOT_SUPPORTED', 'JUDGEMENT_UNREADABLE', 'NOT_CONFIGURED'],
]);
const INTERNAL = new RegExp(`${CANARY}|node_modules|\\.[jt]s:\\d|127\\.0\\.0\\.1`);

const LITERALS = '1e400 0 -1 9007199254740993 0.5 true null "" "\\ud800" "2026-03-01T09:30:00Z"'.split(' ');
/** What a variable may be called, and what a field of one. */
const NAMES = [
  ...'token metadata eventType eventTime publicKey representations input __typename accountId additional'.split(' '),
  ...'captchaId lotNumber captchaOutput passToken genTime __proto__ constructor x'.split(' '),
];
const EXTRAS = ['operationName', 'extensions', 'query', 'variables', 'id', '__proto__'];
const KNOWN = [FINGERPRINT_QUERY, CAPTCHA_MUTATION, ENTITIES_QUERY];
/** What does not belong into a document, or not everywhere. */
const PIECES = [
  ...'{ }} ... @ $ " """ # ! & | \ufeff \u0000 § \\u{110000} 1.e -0 1e400 9007199254740993 null on fragment'.split(' '),
  ...'subscription ...F0 $v0 @skip(if:true) @defer __schema{types{name}} __proto__ constructor toString'.split(' '),
];
const DEEP = 900;

/** The body of a request, made of a list of numbers. */
function makeRequest(numbers: readonly number[]): string {
  const { upTo, chance, oneOf, several } = createChoices(numbers);
  const endings = ['', '\n', '\u0000', '\u001b[2J', '\u{1f9e9}', '<b>'];
  const canary = () => JSON.stringify(`${CANARY}${upTo(999)}${oneOf(endings)}`);
  const entry = (depth: number) => `${JSON.stringify(oneOf(NAMES))}:${json(depth + 1)}`;

  function json(depth: number): string {
    const kind = upTo(depth > 3 ? 3 : 7);
    if (kind < 2) return canary();
    if (kind === 2) return oneOf(LITERALS);
    if (kind === 3) return chance(1) ? '['.repeat(9_000) + ']'.repeat(9_000) : '[]';
    if (kind === 4) return `[${several(3, () => json(depth + 1), ',')}]`;
    return `{${several(8, () => entry(depth), ',')}}`;
  }

  const made = makeUp(upTo(99_999));

  /** A valid document, in which several pieces may be missing, doubled, or others. */
  function document(): string {
    if (chance(2)) return '{ a '.repeat(DEEP) + '}'.repeat(DEEP);
    const words = made.document.split(/(?<=[\s(){}[\],:])|(?=[(){}[\],:])/);
    const texts = words.map((word) => (word.startsWith('"') && chance(80) ? canary() : word));
    for (let left = oneOf([0, 0, 1, 2, 5]); left > 0; left -= 1) {
      const piece = oneOf([oneOf(PIECES), oneOf(PIECES), canary(), `${oneOf(texts)} ${oneOf(texts)}`, '']);
      texts.splice(upTo(texts.length), upTo(1), ` ${piece} `);
    }
    return chance(5) ? texts.slice(0, upTo(texts.length)).join('') : texts.join('');
  }

  const variables = chance(60) ? JSON.stringify(made.variables) : `{${several(9, () => entry(0), ',')}}`;
  const extra = chance(4) ? `,${JSON.stringify(oneOf(EXTRAS))}:${json(2)}` : '';
  const query = chance(20) ? oneOf(KNOWN) : document();
  return `{"query":${JSON.stringify(query)},"variables":${variables}${extra}}`;
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
  let lengthOfLog = 0;
  const seen = { data: 0, refused: 0 };

  async function send(body: string): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const response = await pool.request({ path: '/graphql', method: 'POST', headers, body });
    const text = await response.body.text();
    const { data, errors } = JSON.parse(text);
    for (const { extensions } of errors ?? []) expect(CODES).toContain(extensions.code);
    expect(JSON.stringify(errors ?? [])).not.toMatch(INTERNAL);
    expect(text).not.toContain(CANARY);
    // 503 is how a process says that it is busy, and this one does all the asking as well.
    expect([200, 400, 503]).toContain(response.statusCode);
    seen[data ? 'data' : 'refused'] += 1;
  }

  await fc.assert(
    fc.asyncProperty(lists(AT_ONCE, 120), async (requests) => {
      await Promise.all(requests.map((numbers) => send(makeRequest(numbers))));
      expect(app.logged().slice(lengthOfLog)).not.toContain(CANARY);
      lengthOfLog = app.logged().length;
    }),
    { numRuns: COUNT / AT_ONCE },
  );
  // Some of them were refused, and some were executed.
  for (const count of [seen.data, seen.refused, upstream.requests]) expect(count).toBeGreaterThan(COUNT / 50);
  expect((await ask(app.graphqlUrl, '{ signalCatalogue { code } }')).data.signalCatalogue).toContainEqual({
    code: 'EMULATOR',
  });
});
