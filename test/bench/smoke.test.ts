import { expect, onTestFinished, test } from 'vitest';
import { startGroup } from '../support/process-group.ts';

/** `npm run bench` and `npm run soak` still start, ask and end, in their shortest form. Their figures mean nothing here. */

// Node prints a line when its inspector is used. A busy machine may break a promise of the soak, so its code is 0 or 1.
test.each([
  ['bench', ['--smoke'], /^ {2}ours single +\d+\.\d /m, [0]],
  ['soak', ['--smoke', '--only', 'overload-captcha'], /^ {2}10× overload, captcha: goodput .* (yes|no) /m, [0, 1]],
])('%s prints its table and leaves no process behind', { timeout: 30_000 }, async (name, options, row, codes) => {
  const { ended, stdout, stderr, stop, expectNothingLeft } = startGroup(`test/${name}/main.ts`, ...options);
  onTestFinished(stop);
  expect(codes).toContain(await ended);
  expect(stdout()).toMatch(row);
  expect(stderr()).not.toMatch(/fail|Error/);
  await expectNothingLeft();
});
