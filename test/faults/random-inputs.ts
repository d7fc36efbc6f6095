import fc from 'fast-check';
import { expect } from 'vitest';
import type { TestApp } from '../support/app.ts';
import type { GraphqlError } from '../support/requests.ts';
import { CANARY } from './random-choices.ts';

/** What the tests on ten thousand requests and answers share. */

export const TEN_THOUSAND = 10_000;

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
  ...['OPERATION_RESOLUTION_FAILURE', 'PERSISTED_QUERY_NOT_SUPPORTED'],
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
