import { describe, expect, test } from 'vitest';
import { isGood } from '../../src/server/good-operation.ts';
import { readMetrics } from '../observability/exposition.ts';
import { operationsOf, queryForTokens, send, startAgainst, startSandboxed } from '../observability/support.ts';
import { solveChallenge } from '../support/challenges.ts';
import { CAPTCHA_MUTATION } from '../support/graphql.ts';
import { answer } from '../support/hostile.ts';

/** Of good operations LOG_SAMPLE writes a share of the lines, and of all others every line. */

const input = { lotNumber: 'unheard-of', captchaOutput: 'o', passToken: 'p', genTime: '1' };

describe('with a sample of 0', () => {
  test('good operations write no line, but count', async () => {
    const app = await startSandboxed({ logSample: 0 });
    const passed = { input: await solveChallenge(app.sandboxUrls?.GLB ?? '') };
    await send(app, { query: queryForTokens(['sandbox:web']) });
    await send(app, { query: '{ signalCatalogue { code } }' });
    await send(app, { query: CAPTCHA_MUTATION, variables: passed });
    expect(operationsOf(app)).toEqual([]);
    const { samples } = await readMetrics(app);
    const counts = samples.filter(({ name }) => name === 'device_trust_operation_duration_seconds_count');
    expect(counts.map(({ labels, value }) => [labels['field'], labels['outcome'], value])).toEqual([
      ['deviceFingerprint', 'ok', 1],
      ['signalCatalogue', 'ok', 1],
      ['validateCaptcha', 'ok', 1],
    ]);
  });

  test.each<[string, object]>([
    ['an error', { query: queryForTokens(['sandbox:error:500']) }],
    ['an error beside data', { query: queryForTokens(['sandbox:web', 'sandbox:error:500']) }],
    ['a syntax error', { query: '{' }],
    ['a rejected token', { query: queryForTokens(['made-up']) }],
    ['a captcha that fails', { query: CAPTCHA_MUTATION, variables: { input } }],
    ['a call that takes two seconds', { query: queryForTokens(['sandbox:delay:2000:web']) }],
  ])('an operation with %s writes its line, which stands for itself alone', async (_what, body) => {
    const app = await startSandboxed({ logSample: 0 });
    await send(app, body);
    expect(operationsOf(app)).toHaveLength(1);
    expect(operationsOf(app)[0]).not.toHaveProperty('sample');
  });

  test('a captcha without a verdict writes its line', async () => {
    const { app } = await startAgainst(answer(500, ''), { logSample: 0 });
    await send(app, { query: CAPTCHA_MUTATION, variables: { input } });
    expect(operationsOf(app)).toMatchObject([{ outcomes: { CaptchaIndeterminate: 1 } }]);
  });
});

test('with a sample of a half, about half of the good operations write a line that says so', async () => {
  const app = await startSandboxed({ logSample: 0.5 });
  for (let round = 0; round < 400; round += 1) await send(app, { query: '{ __typename }' });
  const lines = operationsOf(app);
  // Less than one run in a million leaves these bounds.
  expect(lines.length).toBeGreaterThan(200 - 50);
  expect(lines.length).toBeLessThan(200 + 50);
  for (const line of lines) expect(line).toMatchObject({ sample: 0.5 });
});

describe('a good operation', () => {
  test.each<[boolean, readonly string[], number, Readonly<Record<string, number>>]>([
    [true, [], 0, {}],
    [true, [], 1_999, { DeviceFingerprint: 3, DeviceJudgement: 1, CaptchaPassed: 1 }],
    [false, [], 2_000, {}],
    [false, ['BAD_USER_INPUT'], 0, {}],
    [false, [], 0, { DeviceFingerprint: 9, DeviceFingerprintRejected: 1 }],
    [false, [], 0, { CaptchaIndeterminate: 1 }],
    [false, [], 0, { AnOutcomeOfTheFuture: 1 }],
  ])('%s for errors %j, %d ms and outcomes %j', (expected, ...operation) => {
    expect(isGood(...operation)).toBe(expected);
  });
});
