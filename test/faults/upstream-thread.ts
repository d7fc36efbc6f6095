import { parentPort, workerData } from 'node:worker_threads';
import { answerAsDocumented, sendJson, startUpstream } from '../support/upstream.ts';
import { FAIL } from './documented.ts';

/**
 * A captcha service as a thread, which answers however busy the test's own thread is. It posts its URL, and then a message for
 * each request that it holds. A message to it lets it answer. It holds calls, which get a failure. If the thread was started with
 * the data `down`, calls get a 503 at once, and it holds the probes that follow.
 */

const isDown = workerData === 'down';
const held: (() => void)[] = [];
let wasAsked = false;

function hold(message: string, answer: () => void): void {
  held.push(answer);
  parentPort?.postMessage(message);
}

const { url } = await startUpstream(
  (_request, response) => {
    wasAsked = true;
    if (isDown) sendJson(response, 503, {});
    else hold('asked', () => sendJson(response, 200, FAIL));
  },
  (request, response) => {
    const answer = () => answerAsDocumented(request, response);
    if (isDown && wasAsked) hold('probed', answer);
    else answer();
  },
);
parentPort?.on('message', () => {
  for (const answer of held.splice(0)) answer();
});
parentPort?.postMessage(url);
