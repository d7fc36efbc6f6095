import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { ANDROID, PAGE } from '../faults/documented.ts';
import { listen } from '../support/loopback.ts';
import { freePort } from '../support/ports.ts';
import { isProbe, probeAnswer } from '../support/probes.ts';
import { type Answer, judge } from './attacks.ts';
import { epochMs } from './processes.ts';

/** Both services in a process of their own. */

export type Service = 'fingerprint' | 'captcha';
/** How a service treats everything that reaches it, probes included. */
export type Behaved = 'good' | 'reset' | 'refused';
/** What to change, if anything. */
export interface Order {
  readonly service?: Service;
  readonly mode?: Behaved;
}
/** The answer to each order, and the time from which it applies. */
export interface Report {
  readonly addresses: Addresses;
  readonly arrivals: Readonly<Record<Service, Arrivals>>;
  readonly at: number;
}
/** When what reached a service: calls by their application or captcha id, and `probes`. */
export type Arrivals = Record<string, number[]>;
export type Addresses = Readonly<Record<Service, string>>;

/** How long an answer takes, in ms: up to half as much earlier or later. */
const LATENCY_MS = 20;
/** Closes connections that were idle for this long, in ms, and does not say so beforehand. */
const IDLE_MS = 2_000;
/** How long it is in trouble if the noise of a burst is made, in ms. */
const BURST_MS = 40;
class Endpoint {
  readonly #server: Server;
  readonly #isCaptcha: boolean;
  #mode: Behaved = 'good';
  #burstUntil = 0;
  readonly arrivals: Arrivals = {};
  port = 0;

  constructor(service: Service) {
    this.#isCaptcha = service === 'captcha';
    this.#server = createServer((request, response) => void this.#take(request, response));
    this.#server.keepAliveTimeout = IDLE_MS;
  }

  async open(): Promise<string> {
    // One that the system gives to no connection while this server is away.
    this.port ||= await freePort();
    await listen(this.#server, this.port);
    return `http://127.0.0.1:${this.port}`;
  }

  async behave(mode: Behaved): Promise<void> {
    const before = this.#mode;
    this.#mode = mode;
    if (mode === 'refused') {
      this.#server.close();
      this.#server.closeAllConnections();
    } else if (before === 'refused') await this.open();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '' } = request;
    const body = await text(request).catch(() => '');
    // Those who make noise ask for it here, at the moment at which they profit from it.
    if (url === '/noise/burst') this.#burstUntil = performance.now() + BURST_MS;
    if (url === '/noise/close-idle') this.#server.closeIdleConnections();
    if (url.startsWith('/noise')) return void response.setHeader('connection', 'close').end();
    const kind = isProbe(body) ? 'probes' : (/(?:fp_query\/|captcha_id=)(\w+)/.exec(url)?.[1] ?? '');
    this.arrivals[kind] ??= [];
    this.arrivals[kind].push(epochMs());
    const answer = this.#answer(url, body);
    if (answer === 'reset') request.socket.resetAndDestroy();
    if (answer === 'reset' || answer === 'silence') return;
    const [status, content, headers] = answer;
    // An explicit `connection` keeps Node from saying how long it stays open.
    const all = { 'content-type': 'application/json', connection: 'keep-alive', ...headers };
    setTimeout(() => response.writeHead(status, all).end(content), LATENCY_MS * (0.5 + Math.random()));
  }

  #answer(url: string, body: string): Answer | 'reset' | 'silence' {
    if (this.#mode === 'reset') return 'reset';
    if (performance.now() < this.#burstUntil) return [503, PAGE];
    if (isProbe(body)) {
      const documented = probeAnswer(body);
      return [documented.status, documented.body];
    }
    return this.#isCaptcha ? judge(url, body) : [200, JSON.stringify(ANDROID)];
  }
}

const endpoints = { fingerprint: new Endpoint('fingerprint'), captcha: new Endpoint('captcha') };
const addresses: Addresses = {
  fingerprint: await endpoints.fingerprint.open(),
  captcha: await endpoints.captcha.open(),
};
process.on('message', async ({ service, mode }: Order) => {
  if (service && mode) await endpoints[service].behave(mode);
  const arrivals = { fingerprint: endpoints.fingerprint.arrivals, captcha: endpoints.captcha.arrivals };
  process.send?.({ addresses, arrivals, at: epochMs() } satisfies Report);
});
// Without the parent process there is nothing to do.
process.once('disconnect', () => process.exit());
