import { parentPort, workerData } from 'node:worker_threads';

/** A thread that names each request when it is due: it waits more exactly than a timer, whose unit is 1 ms. */

// Safe: `latencyOf` gives these.
const { rate, requests } = workerData as { rate: number; requests: number };
const nothing = new Int32Array(new SharedArrayBuffer(4));
const begin = Date.now() + 100;
for (let number = 0; number < requests; number += 1) {
  const due = begin + (number * 1_000) / rate;
  Atomics.wait(nothing, 0, 0, Math.max(0, due - performance.timeOrigin - performance.now()));
  parentPort?.postMessage(due);
}
