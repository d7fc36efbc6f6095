import { setImmediate } from 'node:timers/promises';
import { DeviceTrustError } from '../errors.ts';
import type { OperationRecorder } from '../graphql/context.ts';
import { Cancellation } from '../upstream/call-context.ts';
import { type AnswerOptions, answerOperation } from './answer-operation.ts';
import { ANYONE } from './callers.ts';

/** An operation as a client sends it. */
export interface WarmUpOperation {
  readonly query: string;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** The first times are Apollo Server's, then the operation is compiled, and the last time is the compiled code's. */
const TIMES = 4;

/**
 * Executes operations before readiness, so that the first requests do not wait until code is loaded and compiled. Nothing is
 * sent to an upstream, counted or logged: every lookup is refused, because no application is known, and so is every captcha.
 */
export async function warmUp(options: AnswerOptions, operations: readonly WarmUpOperation[]): Promise<void> {
  const refuse = () => Promise.reject(new DeviceTrustError('BAD_USER_INPUT'));
  const capabilities = { ...options.capabilities, applicationFor: () => undefined, validateCaptcha: refuse };
  await options.documents.loadCompiler();
  for (const operation of operations) {
    for (let time = 0; time < TIMES; time += 1) {
      await answerOperation({ ...options, capabilities }, REQUEST, operation, ignoring(), ANYONE);
      // Each in a turn of its own, so that the event loop's lag never looks like an overload.
      await setImmediate();
    }
  }
}

const REQUEST = { method: 'POST', headers: { 'content-type': 'application/json' } };

/** A recorder that keeps nothing. */
function ignoring(): OperationRecorder {
  const ignore = () => {};
  return {
    requestId: 'warm-up',
    cancellation: new Cancellation(),
    startSpan: undefined,
    recordKind: ignore,
    recordLookup: ignore,
    recordOutcome: ignore,
    recordFailure: ignore,
    recordCall: ignore,
    recordResult: ignore,
  };
}
