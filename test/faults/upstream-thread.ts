import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { parentPort, workerData } from 'node:worker_threads';
import { answerAsDocumented, sendJson, startUpstream } from '../support/upstream.ts';
import { FAIL } from './documented.ts';

/**
 * A captcha service as a thread, which answers however busy the test's own thread is. It posts its URL, and then a message for
 * each request that it holds. A message to it lets it answer. It holds calls, which get a failure. If it is down, calls get a
 * 503 at once, and it holds the probes that follow.
 */

export interface ThreadData {
  readonly isDown: boolean;
  /** Becomes 1 as soon as everything that was held has been answered. */
  readonly answered: Int32Array<SharedArrayBuffer>;
}

// Sound: this is what the test starts the thread with.
const { isDown, answered } = workerData as ThreadData;
const held: (() => Promise<unknown>)[] = [];
let wasAsked = false;

function hold(message: string, response: ServerResponse, answer: () => void): void {
  held.push(() => {
    answer();
    return once(response, 'finish');
  });
  parentPort?.postMessage(message);
}

const { url } = await startUpstream(
  (_request, response) => {
    wasAsked = true;
    if (isDown) sendJson(response, 503, {});
    else hold('asked', response, () => sendJson(response, 200, FAIL));
  },
  (request, response) => {
    const answer = () => answerAsDocumented(request, response);
    if (isDown && wasAsked) hold('probed', response, answer);
    else answer();
  },
);
parentPort?.on('message', async () => {
  await Promise.all(held.splice(0).map((answer) => answer()));
  Atomics.store(answered, 0, 1);
});
parentPort?.postMessage(url);
