import { expect, test } from 'vitest';
import { QUESTIONS } from './questions.ts';
import { dueWithin, goodPart, goodput, readAnswer, type Sample, slope, tally } from './samples.ts';

/** What the soak makes of answers. */

const sample = (at: number, ms: number, outcome: string): Sample => ({
  number: 1,
  at,
  ms,
  late: 0,
  status: 200,
  outcome,
  proceeds: false,
  retryAfter: false,
  note: '',
});
const SAMPLES = [sample(0, 10, 'data'), sample(90, 20, 'data'), sample(95, 1, 'OVERLOADED')];

test('goodput counts right answers by when they came', () => {
  expect(goodput(SAMPLES, 0, 100)).toBe(10);
  expect(goodput(SAMPLES, 100, 100)).toBe(10);
  expect(goodput(SAMPLES, 0, 200)).toBe(10);
});

test('what was asked counts by when it was due', () => {
  expect(tally(dueWithin(SAMPLES, 90, 10))).toBe('1 data, 1 OVERLOADED');
  expect(goodPart(SAMPLES)).toBeCloseTo(2 / 3);
});

test('the slope of a line is that line’s', () => {
  expect(slope([0, 1, 2, 3], [5, 7, 9, 11])).toBeCloseTo(2);
  expect(slope([0, 1, 2], [4, 4, 4])).toBe(0);
});

test.each([
  [
    'another challenge',
    '{"data":{"validateCaptcha":{"__typename":"CaptchaPassed","proceed":true,"details":{"lotNumber":"x"}}}}',
    'CaptchaPassed',
    true,
  ],
  [
    'no verdict',
    '{"data":{"validateCaptcha":{"__typename":"CaptchaIndeterminate","proceed":true}}}',
    'CaptchaIndeterminate',
    true,
  ],
  [
    'a refusal',
    '{"data":{"validateCaptcha":null},"errors":[{"extensions":{"code":"OVERLOADED"}}]}',
    'OVERLOADED',
    false,
  ],
  ['no JSON', 'Bad gateway', 'unreadable', false],
  ['an empty body', '', 'unreadable', false],
])('%s is no right answer to a captcha', (_name, text, outcome, proceeds) => {
  expect(readAnswer(QUESTIONS.captcha, 1, text)).toEqual({ outcome, proceeds });
});

test('a pass for the challenge that was asked about is one', () => {
  const lotNumber = '5bd58ee1c0a44f6e9d37000000000042';
  const validateCaptcha = { __typename: 'CaptchaPassed', proceed: true, details: { lotNumber } };
  expect(readAnswer(QUESTIONS.captcha, 42, JSON.stringify({ data: { validateCaptcha } }))).toEqual({
    outcome: 'data',
    proceeds: true,
  });
});
