import { expect, onTestFinished, test } from 'vitest';
import { startGroup } from '../support/process-group.ts';

/** `npm run bench` still starts every contender, gets right answers, and ends. Its figures mean nothing here. */
test('the shortest run prints a row for each contender and leaves no process behind', { timeout: 90_000 }, async () => {
  const options = ['--seconds', '5', '--restarts', '1', '--also', 'dist/server/main.js'];
  const { ended, stdout, stderr, stop, expectNothingLeft } = startGroup('test/bench/main.ts', ...options);
  onTestFinished(stop);
  expect(await ended, stderr()).toBe(0);
  const spread = String.raw`[\d,.]+ \([\d,.]+ to [\d,.]+\)`;
  expect(stdout()).toMatch(new RegExp(`^\\| ours${` \\| ${spread} \\| `.repeat(3)} \\|$`, 'm'));
  const others = ['bare undici proxy', 'Mercurius with JIT', "Apollo's template", 'dist/server/main.js'];
  for (const title of others) {
    expect(stdout()).toMatch(new RegExp(`^\\| ${title}${` \\| ${spread} \\| ${spread}`.repeat(3)} \\|$`, 'm'));
  }
  await expectNothingLeft();
});
