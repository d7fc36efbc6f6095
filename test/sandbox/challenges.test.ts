import { expect, test } from 'vitest';
import { createChallengeStore } from '../../src/sandbox/challenges.ts';
import { A } from './support.ts';

test('a full store removes its oldest challenge', () => {
  const store = createChallengeStore(60_000, 2);
  const [first, second, third] = [store.issue(A), store.issue(A), store.issue(A)].map((row) => row.lot_number);
  expect(store.find(first ?? '')).toBeUndefined();
  expect(store.find(second ?? '')).toMatchObject({ captchaId: A, verified: false, expired: false });
  expect(store.find(third ?? '')).toBeDefined();
});

test('a verified challenge is not kept longer', () => {
  const store = createChallengeStore(60_000, 1);
  const { lot_number } = store.issue(A);
  store.markVerified(lot_number);
  expect(store.find(lot_number)?.verified).toBe(true);
  store.issue(A);
  expect(store.find(lot_number)).toBeUndefined();
});

test('a store holds ten thousand challenges by default', () => {
  const store = createChallengeStore(60_000);
  const { lot_number } = store.issue(A);
  for (let issued = 1; issued < 10_000; issued++) store.issue(A);
  expect(store.find(lot_number)).toBeDefined();
  store.issue(A);
  expect(store.find(lot_number)).toBeUndefined();
});
