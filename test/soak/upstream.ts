import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { parentPort } from 'node:worker_threads';
import { ANDROID, PAGE } from '../faults/documented.ts';
import { listen } from '../support/loopback.ts';
import { isProbe, probeAnswer } from '../support/probes.ts';
import { type Answer, judge } from './attacks.ts';

/** Both services in a thread of their own. */

export type Addresses = Readonly<Record<'fingerprint' | 'captcha', string>>;

/** How long an answer takes, in ms: up to half as much earlier or later. */
const LATENCY_MS = 20;
/** Closes connections that were idle for this long, in ms, and does not say so beforehand. */
const IDLE_MS = 2_000;
/** How long it is in trouble if the noise of a burst is made, in ms. */
const BURST_MS = 40;

/** Starts a service, and gives its address. */
async function open(judgeCall: typeof judge): Promise<string> {
  let burstUntil = 0;
  const answerTo = (url: string, body: string): ReturnType<typeof judge> => {
    if (performance.now() < burstUntil) return [503, PAGE];
    if (!isProbe(body)) return judgeCall(url, body);
    const documented = probeAnswer(body);
    return [documented.status, documented.body];
  };
  const server = createServer(async (request, response) => {
    const { url = '' } = request;
    const body = await text(request).catch(() => '');
    // Those who make noise ask for it here, at the moment at which they profit from it.
    if (url === '/noise/burst') burstUntil = performance.now() + BURST_MS;
    if (url === '/noise/close-idle') server.closeIdleConnections();
    if (url.startsWith('/noise')) return void response.setHeader('connection', 'close').end();
    const answer = answerTo(url, body);
    if (answer === 'reset') request.socket.resetAndDestroy();
    if (answer === 'reset' || answer === 'silence') return;
    const [status, content, headers] = answer;
    // An explicit `connection` keeps Node from saying how long it stays open.
    const all = { 'content-type': 'application/json', connection: 'keep-alive', ...headers };
    setTimeout(() => response.writeHead(status, all).end(content), LATENCY_MS * (0.5 + Math.random()));
  });
  server.keepAliveTimeout = IDLE_MS;
  return `http://127.0.0.1:${await listen(server)}`;
}

const judgement: Answer = [200, JSON.stringify(ANDROID)];
const addresses: Addresses = { fingerprint: await open(() => judgement), captcha: await open(judge) };
parentPort?.postMessage(addresses);
