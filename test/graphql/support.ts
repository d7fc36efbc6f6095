import { expect } from 'vitest';
import { startInLiveMode, type TestApp } from '../support/app.ts';
import type { GraphqlAnswer } from '../support/requests.ts';
import { sendJson, startUpstream, type TestUpstream } from '../support/upstream.ts';

/** What a caller may send and must never read again: a telephone number, an e-mail address and a token. */
export const CANARIES = ['13800138000', 'ada.canary@mail.example', 'tok_canary_9f8e7d'] as const;

/** Live mode against an upstream that keeps what it receives and finds every token invalid. */
export async function startRecorded(): Promise<{ app: TestApp; upstream: TestUpstream; stop: () => Promise<unknown> }> {
  const upstream = await startUpstream((_request, response) =>
    sendJson(response, 400, { code: 400, message: 'Invalid request', data: {} }),
  );
  const app = await startInLiveMode(upstream.url);
  return { app, upstream, stop: () => Promise.all([app.stop(), upstream.stop()]) };
}

/** One error of the caller's own making, by its code, and nothing that was sent in it. */
export function expectCallersFault({ errors, text }: GraphqlAnswer, code: string): void {
  expect(errors?.map(({ extensions }) => extensions)).toEqual([{ code, retryable: false }]);
  expectNoCanary(text);
}

/** So many objects in one another, with 1 in the innermost. */
export const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });

export function expectNoCanary(text: string): void {
  for (const canary of CANARIES) expect(text).not.toContain(canary);
}
