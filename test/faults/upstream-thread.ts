import { parentPort, workerData } from 'node:worker_threads';
import { probeAnswer } from '../support/probes.ts';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { FAIL } from './documented.ts';

/**
 * A captcha service as a thread, which answers however busy the test's own thread is. It posts its URL, and then a message for
 * each request, long enough before the answer for the test to become busy in between. Calls get a failure. If the thread was
 * started with the data `down`, they get a 503 at once.
 */

const ANSWER_AFTER_MS = 400;
const PROBE_ANSWER_AFTER_MS = 300;
const isDown = workerData === 'down';

const { url } = await startUpstream(
  (_request, response) => {
    parentPort?.postMessage('asked');
    if (isDown) sendJson(response, 503, {});
    else setTimeout(() => sendJson(response, 200, FAIL), ANSWER_AFTER_MS);
  },
  ({ body }, response) => {
    const documented = probeAnswer(body);
    if (isDown) parentPort?.postMessage('probed');
    setTimeout(
      () => sendJson(response, documented.status, JSON.parse(documented.body)),
      isDown ? PROBE_ANSWER_AFTER_MS : 0,
    );
  },
);
parentPort?.postMessage(url);
