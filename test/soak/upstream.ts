import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { readRequests } from '../bench/http-requests.ts';
import { lotNumber } from '../bench/tokens.ts';
import { captchaPass, judgement, rejection } from '../bench/upstream-answers.ts';
import { listen } from '../support/loopback.ts';
import { isProbe, probeAnswer } from '../support/probes.ts';
import { httpAnswer, NO_ANSWER, outOfOrder, provokedAnswer, RESET, SolvedChallenges } from './firewall.ts';
import { type Behaviour, type Calls, ENDPOINTS, type Endpoint, epochMs, type Order } from './upstream-commands.ts';

/** Both services in a process of their own, each region at an address of its own. Commands set how each behaves. */

const NUMBER = /"device_token":"([a-z]+)-(\d{12})"|lot_number=[0-9a-f]{20}(\d{12})/;
const HINT = 'keep-alive: timeout=60\r\n';

class UpstreamEndpoint {
  #behaviour: Behaviour = { mode: 'good', latencyMs: 20 };
  #burstUntil = 0;
  readonly #calls: [at: number, number: number][] = [];
  readonly #probes: number[] = [];
  readonly #challenges = new SolvedChallenges();
  /** Each connection with how many of its requests are not answered yet. */
  readonly #sockets = new Map<Socket, number>();
  /** Those that have brought a request. One that is new is not idle, although its request may not have been read yet. */
  readonly #used = new WeakSet<Socket>();
  readonly #server: Server;
  port = 0;

  constructor() {
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.#sockets.set(socket, 0);
      socket.once('close', () => this.#sockets.delete(socket));
      socket.on('timeout', () => this.#sockets.get(socket) === 0 && socket.destroy());
      readRequests(socket, (request) => this.#take(socket, request));
    });
  }

  get calls(): Calls {
    return { calls: this.#calls, probes: this.#probes };
  }

  async open(): Promise<string> {
    this.port = await listen(this.#server, this.port);
    return `http://127.0.0.1:${this.port}`;
  }

  async behave(behaviour: Behaviour): Promise<void> {
    const wasRefusing = this.#behaviour.mode === 'refused';
    this.#behaviour = behaviour;
    if (behaviour.mode === 'refused') {
      this.#server.close();
      for (const socket of this.#sockets.keys()) socket.resetAndDestroy();
    } else if (wasRefusing) await this.open();
  }

  /** Answers 503 to everything for a moment. */
  burst(ms: number): void {
    this.#burstUntil = performance.now() + ms;
  }

  /** Closes every connection on which nothing is under way, as a proxy does that has idle ones for too long. */
  closeIdle(): void {
    for (const [socket, underWay] of this.#sockets) if (underWay === 0 && this.#used.has(socket)) socket.destroy();
  }

  #take(socket: Socket, request: string): void {
    const [, kind, token, lot] = NUMBER.exec(request) ?? [];
    const { mode, latencyMs, spread = 0, isStrict = false } = this.#behaviour;
    const [, body = ''] = request.split('\r\n\r\n');
    if (isProbe(body)) this.#probes.push(epochMs());
    // The strict service runs for long, and nobody asks for its calls.
    else if (!isStrict) this.#calls.push([epochMs(), Number(token ?? lot)]);
    if (mode === 'reset') socket.resetAndDestroy();
    if (mode === 'reset' || mode === 'hang') return;
    const text =
      this.#failure() ??
      (isStrict ? outOfOrder(request) : undefined) ??
      (isProbe(body) ? documented(body) : this.#answer(request, kind, token, lot));
    if (text === RESET) socket.resetAndDestroy();
    if (text === RESET || text === NO_ANSWER) return;
    this.#used.add(socket);
    this.#sockets.set(socket, (this.#sockets.get(socket) ?? 0) + 1);
    const send = () => this.#send(socket, text);
    if (latencyMs === 0) send();
    else setTimeout(send, latencyMs * (1 + spread * (2 * Math.random() - 1)));
  }

  /** What everybody gets while the service is in trouble. */
  #failure(): string | undefined {
    const { mode, retryAfter = 1 } = this.#behaviour;
    if (mode === '503' || performance.now() < this.#burstUntil) return httpAnswer('503 Service Unavailable', '');
    return mode === '429' ? httpAnswer('429 Too Many Requests', '', { 'retry-after': String(retryAfter) }) : undefined;
  }

  #answer(request: string, kind: string | undefined, token = '0'.repeat(12), lot = ''): string {
    if (request.startsWith('POST /validate')) {
      if (!this.#behaviour.isStrict) return captchaPass(lotNumber(Number(lot)));
      return provokedAnswer(request) ?? this.#challenges.judge(request);
    }
    return kind === 'rejected' ? rejection('') : judgement(token);
  }

  #send(socket: Socket, text: string): void {
    const { idleMs } = this.#behaviour;
    if (!this.#sockets.has(socket)) return;
    this.#sockets.set(socket, (this.#sockets.get(socket) ?? 1) - 1);
    if (socket.writable) socket.write(idleMs === undefined ? text : text.replace(HINT, ''), 'latin1');
    if (idleMs !== undefined) socket.setTimeout(idleMs);
  }
}

function documented(body: string): string {
  const answer = probeAnswer(body);
  return httpAnswer(`${answer.status} ${answer.status === 200 ? 'OK' : 'Bad Request'}`, answer.body);
}

const endpoints = new Map<Endpoint, UpstreamEndpoint>(ENDPOINTS.map((name) => [name, new UpstreamEndpoint()]));
const urls: Readonly<Record<string, string>> = Object.fromEntries(
  await Promise.all([...endpoints].map(async ([name, endpoint]) => [name, await endpoint.open()] as const)),
);

/** Those who make noise ask for it here, at the moment at which they profit from it. */
const noise = createHttpServer((request, response) => {
  const captcha = endpoints.get('captcha-EU');
  if (request.url === '/burst') captcha?.burst(40);
  if (request.url === '/close-idle') captcha?.closeIdle();
  response.end();
});
const addresses: Readonly<Record<string, string>> = { ...urls, noise: `http://127.0.0.1:${await listen(noise)}` };

process.on('message', async (order: Order) => {
  switch (order.order) {
    case 'addresses':
      return process.send?.(addresses);
    case 'behave':
      await endpoints.get(order.endpoint)?.behave(order.behaviour);
      return process.send?.({ at: epochMs() });
    case 'calls':
      return process.send?.(endpoints.get(order.endpoint)?.calls);
  }
});
// Without the parent process there is nothing to do.
process.once('disconnect', () => process.exit());
process.stdout.write(`${JSON.stringify({ url: addresses['fingerprint-EU'] })}\n`);
