import { expect, onTestFinished, test } from 'vitest';
import { collectGarbage } from '../support/garbage.ts';
import { hang } from '../support/hostile.ts';
import { crowd, expectGood, good, SERVICES, startBoth } from './support.ts';

/** No load leaves anything behind. That no more of a body is read than is allowed is in the table of faults. */

test('a thousand answers leave nothing in the heap', async () => {
  const { upstream, app } = await startBoth({ onTestFinished }, hang, 30_000);
  const rounds = async (count: number) => {
    for (const [, question] of SERVICES) {
      upstream.behave(good(question));
      for (let round = 0; round < count; round += 1)
        for (const answered of await crowd(app, question, 20)) expectGood(question, answered);
    }
    collectGarbage();
    return { inside: process.memoryUsage().heapUsed, log: app.logged().length };
  };
  // The first thousand fill caches and compile code.
  await rounds(30);
  const before = await rounds(1);
  const after = await rounds(25);
  // The log of the app is kept as well. A request, an answer or a context that stays takes more than 1.5 KB.
  const grown = after.inside - before.inside - (after.log - before.log);
  expect(grown).toBeLessThan(1_500 * 1_000);
});
