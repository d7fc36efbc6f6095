/** Two ways to put load on a server. Both end when every request that they sent is answered. */

/** Sends one request; `due` is when it should leave, on the clock of `performance.now()`. */
type Send = (due: number) => Promise<void>;

interface Timings {
  /** Of each request, in ms. */
  readonly latencies: readonly number[];
  /** From the first request to the last answer. */
  readonly seconds: number;
}

/** Keeps `lanes` requests under way for `ms`. Rejects as soon as one of them does. */
export async function closedLoop(send: Send, lanes: number, ms: number): Promise<Timings> {
  const latencies: number[] = [];
  const start = performance.now();
  const lane = async () => {
    for (let sent = performance.now(); sent - start < ms; sent = performance.now()) {
      await send(sent);
      latencies.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return { latencies, seconds: (performance.now() - start) / 1_000 };
}

/**
 * Sends `rate` requests a second for `ms`, whatever comes back. A latency counts from when its request was due, so that a
 * server that falls behind cannot hide it. Rejects as soon as one request does.
 */
export function openLoop(send: Send, rate: number, ms: number): Promise<Timings> {
  const total = Math.max(1, Math.floor((rate * ms) / 1_000));
  const latencies: number[] = [];
  const start = performance.now();
  const dueAt = (index: number) => start + (index * 1_000) / rate;
  return new Promise((resolve, reject) => {
    let sent = 0;
    const sendOne = (due: number) =>
      send(due).then(() => {
        latencies.push(performance.now() - due);
        if (latencies.length === total) resolve({ latencies, seconds: (performance.now() - start) / 1_000 });
      }, reject);
    const sendAllDue = () => {
      for (; sent < total && dueAt(sent) <= performance.now(); sent += 1) sendOne(dueAt(sent));
      if (sent < total) setTimeout(sendAllDue, 1);
    };
    sendAllDue();
  });
}
