import fc from 'fast-check';
import { expect } from 'vitest';
import type { TestApp } from '../support/app.ts';
import type { GraphqlError } from '../support/requests.ts';

/** What the tests on random requests and answers share. */

/** Begins every text that is sent as a value: none may come back, or be logged. */
export const CANARY = '§cnry';

/**
 * Choices that follow from a list of numbers. Each takes the next number; without one it is the first choice. So fast-check
 * makes the result smaller by making the list smaller.
 */
export function createChoices(numbers: readonly number[]) {
  let at = 0;
  /** A whole number from 0. */
  const upTo = (most: number) => (numbers[at++] ?? 0) % (most + 1);
  /** True in so many cases of a hundred. */
  const chance = (percent: number) => upTo(99) >= 100 - percent;
  // Sound: nobody chooses from an empty list, so the number is one of its indexes.
  const oneOf = <T>(list: readonly T[]): T => list[upTo(list.length - 1)] as T;
  const several = (most: number, make: (index: number) => string, separator = ' ') =>
    Array.from({ length: upTo(most) }, (_, index) => make(index)).join(separator);
  return { upTo, chance, oneOf, several };
}

/** So many requests, and so many answers of each service, are tried: other ones in each run. */
export const COUNT = 1_000;

/** So many lists of numbers, each of which becomes a request or an answer. Shorter ones make simpler ones. */
export function lists(count: number, maxLength: number) {
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

/** Fails on any error that is not in the catalogue, or that reveals what was sent or how the server works. */
export function expectKnownErrors(errors: readonly GraphqlError[] = []): void {
  expect(errors.map(({ extensions }) => extensions.code).filter((code) => !CODES.has(code))).toEqual([]);
  expect(JSON.stringify(errors)).not.toMatch(INTERNAL);
}

/** Returns a check that fails if anything that was sent is in the new part of the log. */
export function createLogCheck({ logged }: TestApp): () => void {
  let seen = 0;
  return () => {
    const log = logged();
    expect(log.slice(seen)).not.toContain(CANARY);
    seen = log.length;
  };
}
