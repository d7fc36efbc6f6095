import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { parentPort } from 'node:worker_threads';
import { ANDROID, exception, PAGE } from '../faults/documented.ts';
import { listen } from '../support/loopback.ts';
import { isProbe, probeAnswer } from '../support/probes.ts';
import { type Answer, judge } from './attacks.ts';
import { CAPTCHA_IDS, FINGERPRINT_HOSTS } from './processes.ts';

/** Both services in a thread of their own. */

export type Ports = Readonly<Record<'fingerprint' | 'captcha', number>>;

/** How long an answer takes, in ms: up to half as much earlier or later. */
const LATENCY_MS = 20;
/** Closes connections that were idle for this long, in ms, and does not say so beforehand. */
const IDLE_MS = 2_000;
/** How long it is in trouble if the noise of a burst is made, in ms. */
const BURST_MS = 40;

/** Starts a service, and gives its port. */
async function open(judgeCall: typeof judge, port = 0, host = '127.0.0.1'): Promise<number> {
  let burstUntil = 0;
  let isPaused = false;
  let calls = 0;
  const answerTo = (url: string, body: string): ReturnType<typeof judge> => {
    if (performance.now() < burstUntil) return [503, PAGE];
    if (isPaused && url.includes(CAPTCHA_IDS.default)) return [200, exception('-50105', 'captcha_id paused')];
    if (!isProbe(body)) {
      calls += 1;
      return judgeCall(url, body);
    }
    const documented = probeAnswer(body);
    return [documented.status, documented.body];
  };
  const server = createServer(async (request, response) => {
    const { url = '' } = request;
    const body = await text(request).catch(() => '');
    // Those who make noise ask for it here, at the moment at which they profit from it.
    if (url === '/noise/burst') burstUntil = performance.now() + BURST_MS;
    if (url === '/noise/close-idle') server.closeIdleConnections();
    if (url === '/noise/pause') isPaused = true;
    if (url === '/noise/resume') isPaused = false;
    if (url.startsWith('/noise')) return void response.setHeader('connection', 'close').end(`${calls}`);
    const answer = answerTo(url, body);
    if (answer === 'reset') request.socket.resetAndDestroy();
    if (answer === 'reset' || answer === 'silence') return;
    const [status, content, headers] = answer;
    // An explicit `connection` keeps Node from saying how long it stays open.
    const all = { 'content-type': 'application/json', connection: 'keep-alive', ...headers };
    setTimeout(() => response.writeHead(status, all).end(content), LATENCY_MS * (0.5 + Math.random()));
  });
  server.keepAliveTimeout = IDLE_MS;
  return listen(server, port, host);
}

const judgement: Answer = [200, JSON.stringify(ANDROID)];
const fingerprint = await open(() => judgement, 0, FINGERPRINT_HOSTS[0]);
await open(() => judgement, fingerprint, FINGERPRINT_HOSTS[1]);
const ports: Ports = { fingerprint, captcha: await open(judge) };
parentPort?.postMessage(ports);
