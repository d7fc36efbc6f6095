import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { dispatchPost } from '../bench/dispatch.ts';
import { ATTACKS, MADE_UP, SPEND, THROTTLED } from './attacks.ts';
import type { BotJob, BotResult } from './bot-job.ts';
import { ROUTER_SECRET } from './secret.ts';
import { epochMs } from './upstream-commands.ts';

/** The bot, in a process of its own. It tries every attack at random, and comes through the router, so it has the secret. */

const CONNECTIONS = 512;
const MAX_UNDER_WAY = 2_000;
const GIVE_UP_MS = 15_000;
const TICK_MS = 10;
/** Between two noises at the service, in ms. The least is more than the 300 ms between two probes. */
const NOISE = { least: 500, most: 3_000 };
const CAPTCHAS_AT_A_NOISE = 10;
/** Connections of one attack, and how long the bot keeps them, in ms. */
const SOCKETS = 5;
const KEEP_MS = 10_000;

const headers = { 'router-authorization': ROUTER_SECRET };

class Bot {
  readonly #job: BotJob;
  readonly #origin: URL;
  readonly #pool: Pool;
  readonly #sent: Record<string, number> = {};
  readonly #outcomes: Record<string, number> = {};
  readonly #proceeded: [number, number, string][] = [];
  #noises = 0;
  #skipped = 0;
  #underWay = 0;
  readonly #sockets = new Set<Socket>();

  constructor(job: BotJob) {
    this.#job = job;
    this.#origin = new URL(job.url);
    this.#pool = new Pool(this.#origin.origin, {
      connections: CONNECTIONS,
      pipelining: 1,
      headersTimeout: GIVE_UP_MS,
      bodyTimeout: GIVE_UP_MS,
    });
  }

  async run(): Promise<BotResult> {
    await dispatchPost(this.#pool, this.#origin.pathname, headers, SPEND);
    const start = performance.now();
    const noise = this.#makeNoise(start);
    let budget = 0;
    let last = start;
    for (let now = start; now - start < this.#job.ms; now = performance.now()) {
      budget += ((now - last) * this.#job.rate) / 1_000;
      last = now;
      while (budget > 0) budget -= this.#attack(now - start);
      await sleep(TICK_MS);
    }
    await noise;
    while (this.#underWay > 0) await sleep(TICK_MS);
    for (const socket of this.#sockets) socket.destroy();
    await this.#pool.destroy();
    return {
      sent: this.#sent,
      outcomes: this.#outcomes,
      noises: this.#noises,
      skipped: this.#skipped,
      proceeded: this.#proceeded,
    };
  }

  /** @returns how many requests and connections it was */
  #attack(elapsedMs: number): number {
    const { from, to } = this.#job.throttle;
    const names = [...Object.keys(ATTACKS), ...Object.keys(SOCKET_ATTACKS)];
    const isThrottling = elapsedMs >= from && elapsedMs < to;
    const at = Math.floor(Math.random() * (names.length + (isThrottling ? 1 : 0)));
    const name = names[at] ?? 'values for which the service throttles the captcha id';
    const attack = SOCKET_ATTACKS[name];
    if (attack) {
      for (let nth = 0; nth < SOCKETS; nth += 1) this.#open(name, attack);
      return SOCKETS;
    }
    const bodies = ATTACKS[name]?.() ?? [THROTTLED()];
    for (const body of bodies) void this.#post(name, body);
    return bodies.length;
  }

  async #post(name: string, body: string): Promise<void> {
    if (this.#underWay >= MAX_UNDER_WAY) {
      this.#skipped += 1;
      return;
    }
    this.#underWay += 1;
    const at = epochMs();
    let outcome = 'lost';
    try {
      const answer = await dispatchPost(this.#pool, this.#origin.pathname, headers, body);
      const text = answer.body().toString('latin1');
      outcome = /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? /"(Captcha[A-Z][a-z]+)"/.exec(text)?.[1] ?? 'data';
      if (text.includes('"proceed":true')) this.#proceeded.push([at, epochMs(), name]);
    } catch {
      // A connection that breaks is an answer like any other.
    }
    this.#count(name, outcome);
    this.#underWay -= 1;
  }

  #count(name: string, outcome: string): void {
    this.#sent[name] = (this.#sent[name] ?? 0) + 1;
    this.#outcomes[outcome] = (this.#outcomes[outcome] ?? 0) + 1;
  }

  #open(name: string, attack: (socket: Socket) => void): void {
    this.#count(name, 'connection');
    const socket = connect(Number(this.#origin.port), this.#origin.hostname);
    this.#sockets.add(socket);
    const timer = setTimeout(() => socket.destroy(), KEEP_MS);
    socket
      .on('error', () => {})
      .on('data', () => {})
      .once('close', () => {
        clearTimeout(timer);
        this.#sockets.delete(socket);
      });
    attack(socket);
  }

  /** Closes the service's idle connections, or makes it fail for a moment, and sends captchas at that moment. */
  async #makeNoise(start: number): Promise<void> {
    while (performance.now() - start < this.#job.noiseMs) {
      await sleep(NOISE.least + Math.random() * (NOISE.most - NOISE.least));
      const path = Math.random() < 0.5 ? 'burst' : 'close-idle';
      this.#noises += 1;
      const made = fetch(`${this.#job.noise}/${path}`);
      for (let nth = 0; nth < CAPTCHAS_AT_A_NOISE; nth += 1)
        void this.#post(`captchas at the moment of a ${path}`, MADE_UP());
      await (await made).text();
    }
  }
}

const HEAD = `POST /graphql HTTP/1.1\r\nhost: soak\r\ncontent-type: application/json\r\nrouter-authorization: ${ROUTER_SECRET}\r\n`;

const SOCKET_ATTACKS: Readonly<Record<string, (socket: Socket) => void>> = {
  'connections of strangers': (socket) => void socket.write('GET /healthz HTTP/1.1\r\nhost: soak\r\n\r\n'),
  'hanging up': (socket) => {
    const body = MADE_UP();
    socket.write(`${HEAD}content-length: ${body.length}\r\n\r\n${body}`);
    setTimeout(() => socket.destroy(), 1 + Math.random() * 30);
  },
  'slow bodies': (socket) => {
    socket.write(`${HEAD}content-length: 1000\r\n\r\n{`);
    const timer = setInterval(() => socket.write(' '), 1_000);
    socket.once('close', () => clearInterval(timer));
  },
  'requests that are not HTTP': (socket) => {
    const [line] = HEAD.split('\r\n', 1);
    socket.end(Math.random() < 0.5 ? `${line}\r\n\r\n` : `${HEAD}expect: 418\r\ncontent-length: 2\r\n\r\n{}`);
  },
};

process.on('message', async (job: BotJob) => {
  process.send?.(await new Bot(job).run());
});
// Without the parent process there is nothing to do.
process.once('disconnect', () => process.exit());
