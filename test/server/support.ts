import { expect } from 'vitest';
import type { Config } from '../../src/config/variables.ts';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import type { HttpAnswer } from '../support/requests.ts';

/** Live mode with upstreams that nobody runs: port 9 is refused. */
export function startWithoutUpstreams(overrides: Partial<Config> = {}): Promise<TestApp> {
  const nobody = 'http://127.0.0.1:9';
  return startInLiveMode({ GLB: nobody, NA: nobody, EU: nobody }, overrides);
}

/** Every refusal has the shape of a GraphQL error, and is never stored. */
export function expectRefusal({ status, headers, text }: HttpAnswer, expectedStatus: number): void {
  expect(status).toBe(expectedStatus);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  expect(JSON.parse(text)).toEqual({
    errors: [{ message: expect.stringMatching(/^\S.*\.$/), extensions: { code: 'BAD_REQUEST', retryable: false } }],
  });
}
