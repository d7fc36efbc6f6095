import { parentPort } from 'node:worker_threads';
import { sendJson, startUpstream } from '../support/upstream.ts';
import { FAIL } from './documented.ts';

/**
 * A captcha service as a thread, which answers with a failure however busy the test's own thread is. It posts its URL, and then
 * a message for each request, long enough before the answer for the test to become busy in between.
 */

const ANSWER_AFTER_MS = 200;

const { url } = await startUpstream((_request, response) => {
  parentPort?.postMessage('asked');
  setTimeout(() => sendJson(response, 200, FAIL), ANSWER_AFTER_MS);
});
parentPort?.postMessage(url);
