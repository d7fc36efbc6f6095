import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { ANDROID, PAGE } from '../faults/documented.ts';
import { listen } from '../support/loopback.ts';
import { isProbe, probeAnswer } from '../support/probes.ts';
import { type Answer, judge } from './attacks.ts';

/** Both services in a process of their own. */

export type Addresses = Readonly<Record<'fingerprint' | 'captcha', string>>;

/** How long an answer takes, in ms: up to half as much earlier or later. */
const LATENCY_MS = 20;
/** Closes connections that were idle for this long, in ms, and does not say so beforehand. */
const IDLE_MS = 2_000;
/** How long it is in trouble if the noise of a burst is made, in ms. */
const BURST_MS = 40;
class Endpoint {
  readonly #server: Server;
  readonly #isCaptcha: boolean;
  #burstUntil = 0;

  constructor(isCaptcha: boolean) {
    this.#isCaptcha = isCaptcha;
    this.#server = createServer((request, response) => void this.#take(request, response));
    this.#server.keepAliveTimeout = IDLE_MS;
  }

  async open(): Promise<string> {
    return `http://127.0.0.1:${await listen(this.#server)}`;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '' } = request;
    const body = await text(request).catch(() => '');
    // Those who make noise ask for it here, at the moment at which they profit from it.
    if (url === '/noise/burst') this.#burstUntil = performance.now() + BURST_MS;
    if (url === '/noise/close-idle') this.#server.closeIdleConnections();
    if (url.startsWith('/noise')) return void response.setHeader('connection', 'close').end();
    const answer = this.#answer(url, body);
    if (answer === 'reset') request.socket.resetAndDestroy();
    if (answer === 'reset' || answer === 'silence') return;
    const [status, content, headers] = answer;
    // An explicit `connection` keeps Node from saying how long it stays open.
    const all = { 'content-type': 'application/json', connection: 'keep-alive', ...headers };
    setTimeout(() => response.writeHead(status, all).end(content), LATENCY_MS * (0.5 + Math.random()));
  }

  #answer(url: string, body: string): Answer | 'reset' | 'silence' {
    if (performance.now() < this.#burstUntil) return [503, PAGE];
    if (isProbe(body)) {
      const documented = probeAnswer(body);
      return [documented.status, documented.body];
    }
    return this.#isCaptcha ? judge(url, body) : [200, JSON.stringify(ANDROID)];
  }
}

const addresses: Addresses = {
  fingerprint: await new Endpoint(false).open(),
  captcha: await new Endpoint(true).open(),
};
process.on('message', () => process.send?.(addresses));
// Without the parent process there is nothing to do.
process.once('disconnect', () => process.exit());
