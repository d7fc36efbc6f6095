import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Variable } from '../../src/config/values.ts';
import { VARIABLES } from '../../src/config/variables.ts';
import { CANARY, LIVE, problemsOf } from './support.ts';

/** What holds for the message about every value. */

describe('whatever is written, no message has words of a library, a regular expression or a secret', () => {
  /** What zod says by itself, and what regular expressions look like. */
  const FOREIGN =
    /invalid|must match|pattern|received|too (small|big|short|long)|unrecognized|required|\/\^|\\[sdwxu]|\[\\|\$\//i;
  const secret = fc.stringMatching(/^[!-~]{8,40}$/).map((text) => `${CANARY}${text}`);
  const leaf = fc.oneof(
    secret,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(secret),
    fc.dictionary(secret, secret),
  );
  const entry = (first: string, second: string) =>
    fc.oneof(
      leaf,
      fc.record(
        { [first]: leaf, [second]: leaf, region: fc.oneof(leaf, fc.constantFrom('GLB', 'NA', 'EU')), secrett: leaf },
        { requiredKeys: [] },
      ),
      fc.dictionary(fc.oneof(secret, fc.constantFrom('__proto__', 'constructor', 'region')), leaf),
    );
  const listOf = (first: string, second: string) =>
    fc.oneof(fc.array(entry(first, second)), leaf).map((value) => JSON.stringify(value));
  const hidden = Object.values<Variable>(VARIABLES).filter((row) => row.secret || row.isAddress || row.hasParts);

  test.each(hidden)('$name', ({ name, expected }) => {
    const made = fc.oneof(
      fc.string().map((text) => `${CANARY}${text}`),
      listOf('publicKey', 'secret'),
      listOf('captchaId', 'captchaKey'),
      listOf('name', 'secret'),
      fc.webUrl({ withQueryParameters: true, withFragments: true }).map((url) => `${url}${CANARY}`),
    );
    fc.assert(
      fc.property(made, (text) => {
        const rest = Object.fromEntries(Object.entries(LIVE).filter(([other]) => other !== 'ALLOW_DIRECT_ACCESS'));
        for (const problem of problemsOf({ ...rest, [name]: text })) {
          // Its own sentence may have an example with such a word.
          expect(problem.replace(expected, '')).not.toMatch(FOREIGN);
          expect(problem).not.toContain(CANARY);
          expect(problem).not.toContain('expected another value');
        }
      }),
    );
  });

  test('the check recognises messages of a library', () => {
    for (const theirs of [
      'Invalid string: must match pattern /^[\\x21-\\x7e]+$/',
      'Too small: expected array to have >=1 items',
      'Unrecognized key: "a"',
      'Invalid option: expected one of "GLB"|"NA"',
    ]) {
      expect(theirs).toMatch(FOREIGN);
    }
  });
});
