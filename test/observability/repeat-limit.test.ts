import { describe, expect, test, vi } from 'vitest';
import { RepeatLimit } from '../../src/observability/repeat-limit.ts';
import { answer } from '../support/hostile.ts';
import { queryForTokens, send, startAgainst, warningsOf } from './support.ts';

/** How many lines at warn and error are written when each operation fails for the same reason. */

/** What a limit admits of these causes, and what it reports when the window ends. */
function tryOut(causes: readonly string[]) {
  const limit = new RepeatLimit();
  const reported: [cause: string, leftOut: number, isMixed: boolean][] = [];
  const admitted = causes.filter((cause) =>
    limit.admits(cause, (leftOut, isMixed) => void reported.push([cause, leftOut, isMixed])),
  );
  limit.flush();
  return { admitted, reported, limit };
}

const times = (count: number, cause: (index: number) => string) => Array.from({ length: count }, (_, at) => cause(at));

describe('the limit', () => {
  test('admits ten lines of a cause, and reports the rest', () => {
    const { admitted, reported } = tryOut([
      ...times(1_000, () => 'a'),
      ...times(10, () => 'b'),
      ...times(11, () => 'c'),
    ]);
    expect(admitted).toEqual([...Array(10).fill('a'), ...Array(10).fill('b'), ...Array(10).fill('c')]);
    expect(reported).toEqual([
      ['a', 990, false],
      ['c', 1, false],
    ]);
  });

  test('counts at most a hundred causes apart, however many there are', () => {
    const { admitted, reported } = tryOut(times(5_000, (at) => `cause ${at}`));
    expect(admitted).toHaveLength(110);
    expect(reported).toEqual([['cause 100', 4_890, true]]);
  });

  test('begins again with each window, of itself', async () => {
    const limit = new RepeatLimit();
    const reports: number[] = [];
    const admit = () => times(12, () => 'a').filter((cause) => limit.admits(cause, (leftOut) => reports.push(leftOut)));
    expect(admit()).toHaveLength(10);
    await vi.waitFor(() => expect(reports).toEqual([2]), { timeout: 4_000 });
    expect(admit()).toHaveLength(10);
    limit.flush();
    expect(reports).toEqual([2, 2]);
  });
});

test('an upstream that fails for fifty operations writes ten lines, and then how many are left out', async () => {
  const { app } = await startAgainst(answer(401, '{"code":401}'));
  const before = warningsOf(app).length;
  const tokens = times(50, (at) => `token-${at}`);
  await Promise.all(tokens.map((token) => send(app, { query: queryForTokens([token]) })));
  const about = () =>
    warningsOf(app)
      .slice(before)
      .filter(({ code }) => code === 'UPSTREAM_REJECTED');
  // If the second ends between two of them, both windows have their lines and their count.
  const total = () => about().reduce((sum, { leftOut }) => sum + Number(leftOut ?? 1), 0);
  await expect.poll(total).toBe(50);
  const lines = about();
  expect(lines.length).toBeLessThanOrEqual(22);
  const { requestId: _, time: __, ...first } = lines[0] ?? {};
  const last = lines.at(-1) ?? {};
  expect(last).toEqual({ ...first, time: expect.any(String), leftOut: expect.any(Number) });
  expect(lines.filter(({ requestId }) => requestId === undefined)).toEqual(lines.filter(({ leftOut }) => leftOut));
});

test('lines below warn are not limited', async () => {
  const { app } = await startAgainst(answer(401, '{"code":401}'));
  await Promise.all(times(50, String).map((token) => send(app, { query: queryForTokens([token]) })));
  expect(app.logged().match(/"msg":"operation"/g)).toHaveLength(50);
});
