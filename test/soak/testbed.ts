import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, type Children, ROOT } from '../bench/children.ts';
import { freePort } from '../support/ports.ts';
import type { LoadJob, LoadResult, Stream } from './load-job.ts';
import type { Control } from './preload.ts';
import { publicKeyOf } from './questions.ts';
import type { Sample } from './samples.ts';
import { ROUTER_SECRET } from './secret.ts';
import type { Addresses, Begun, Behaviour, Calls, Endpoint, Order } from './upstream-commands.ts';

/** Our server, started as the README says. */
export interface Server extends Pick<Child, 'pid' | 'ended' | 'end' | 'kill'> {
  readonly origin: string;
  /** Where metrics and probes are. */
  readonly admin: string;
  /** Where GraphQL is. */
  readonly url: string;
  /** The value of each of its metrics now, by name and labels as Prometheus writes them. */
  metrics(): Promise<ReadonlyMap<string, number>>;
  /** Starts another one at the same address, once this one is gone. */
  again(): Promise<Server>;
}

/** A server whose resolver and clock do what the soak says. */
export interface ControlledServer extends Server {
  control(control: Control): Promise<void>;
}

/** The processes of one scenario: an upstream, a load generator, and servers as they are wanted. */
export interface SoakTestbed {
  /** Starts our server, with options for Node if there are any. Resolves when it is ready. */
  serve(env?: Env, nodeOptions?: readonly string[]): Promise<Server>;
  /** The same, with upstreams by name. */
  serveControlled(env?: Env, control?: Control, nodeOptions?: readonly string[]): Promise<ControlledServer>;
  /** Puts streams of load on servers, all at the same time. Resolves with what came back in each. */
  load<const Names extends Readonly<Record<string, Stream>>>(
    streams: Names,
  ): Promise<Readonly<Record<keyof Names, readonly Sample[]>>>;
  /** Sets the behaviour of an endpoint of the upstream. Resolves with the time from which it applies. */
  behave(endpoint: Endpoint, behaviour: Behaviour): Promise<number>;
  /** The addresses of the upstream. */
  readonly addresses: Addresses;
  /** Everything that has reached an endpoint so far. */
  calls(endpoint: Endpoint): Promise<Calls>;
  /** Light load on a server that does next to nothing: what it shows is the delay of this machine. */
  bare(ms: number): Stream;
  /** Starts another script of this project, which prints its address. */
  script(...command: string[]): Promise<string>;
  /** Starts another script, gives it this message, and resolves with what it answers. */
  ask(script: string, message: object): Promise<unknown>;
}

type Env = Readonly<Record<string, string>>;

/** @param fromSource run the sources, because there may be no build */
export async function openSoakTestbed(children: Children, fromSource: boolean): Promise<SoakTestbed> {
  const upstream = children.start('others', ['test/soak/upstream.ts'], { answers: true });
  const generator = children.start('others', ['test/soak/load.ts'], { answers: true });
  const main = fromSource ? 'src/main.ts' : 'dist/server/main.js';
  if (!existsSync(join(ROOT, main))) throw new Error(`${main} is not there: "npm run soak" builds it`);
  await upstream.url;
  const send = (order: Order) => upstream.ask(order);
  // Sound, as are those below: this is what the upstream answers to this order.
  const addresses = (await send({ order: 'addresses' })) as Addresses;
  await send({ order: 'behave', endpoint: 'bare', behaviour: { mode: 'good', latencyMs: 0 } });

  async function start(ports: readonly [number, number], env: Env, nodeOptions: readonly string[]): Promise<Server> {
    const at = { PORT: String(ports[0]), ADMIN_PORT: String(ports[1]) };
    const child = children.start('server', [...nodeOptions, main], {
      env: { ...at, ...configuration(addresses), ...env },
    });
    const url = await child.url;
    const { pid, ended, end, kill } = child;
    const admin = `http://127.0.0.1:${ports[1]}`;
    await ready(admin);
    const metrics = async () => readMetrics(await textAt(`${admin}/metrics`));
    const again = async () => {
      await ended;
      return start(ports, env, nodeOptions);
    };
    return { pid, ended, end, kill, url, origin: new URL(url).origin, admin, metrics, again };
  }
  const serve = async (env: Env = {}, nodeOptions: readonly string[] = []) =>
    start([await freePort(), await freePort()], env, nodeOptions);

  return {
    serve,
    serveControlled: async (env = {}, initial = { lookupMs: 0, clockMs: 0 }, nodeOptions = []) => {
      const port = await freePort();
      const controls = { SOAK_CONTROL_PORT: String(port), SOAK_CONTROL: JSON.stringify(initial) };
      const preload = ['--import', './test/soak/preload.ts', ...nodeOptions];
      const server = await serve({ ...byName(addresses), ...controls, ...env }, preload);
      const control = async (next: Control) => {
        await textAt(`http://127.0.0.1:${port}/?control=${encodeURIComponent(JSON.stringify(next))}`);
      };
      return { ...server, control };
    },
    addresses,
    load: async (streams) => {
      const job: LoadJob = Object.values(streams);
      // Sound: this is what the load generator answers, in the order of the job.
      const result = (await generator.ask(job)) as LoadResult;
      const byName = Object.keys(streams).map((name, at) => [name, result[at] ?? []]);
      return Object.fromEntries(byName);
    },
    behave: async (endpoint, behaviour) => ((await send({ order: 'behave', endpoint, behaviour })) as Begun).at,
    bare: (ms) => ({ url: `${addresses.bare}/graphql`, question: 'EU', ms, connections: 16, rate: 50 }),
    calls: async (endpoint) => (await send({ order: 'calls', endpoint })) as Calls,
    script: (...command) => children.start('others', command).url,
    ask: (script, message) => children.start('others', [script], { answers: true }).ask(message),
  };
}

/** Waits until a server says that it is ready. Rejects after 20 s. */
async function ready(admin: string): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if ((await textAt(`${admin}/readyz`).catch(() => '')) === 'ready\n') return;
    await sleep(50);
  }
  throw new Error('expected a server that becomes ready, but got none within 20 s');
}

/** The upstreams at the name `localhost`, which needs a look-up. */
function byName(addresses: Addresses): Env {
  const urls = Object.entries(configuration(addresses)).filter(([name]) => name.includes('_URL_'));
  return Object.fromEntries(urls.map(([name, url]) => [name, url.replace('127.0.0.1', 'localhost')]));
}

/** Live mode with the defaults, one application in each region and one captcha id. */
function configuration(addresses: Addresses): Env {
  const applications = ['EU', 'NA', 'GLB'].map((region) => ({ publicKey: publicKeyOf(region), secret: 'sk', region }));
  return {
    ROUTER_SECRETS: ROUTER_SECRET,
    // At the end of a scenario no router has to notice that the server stops.
    SHUTDOWN_GRACE_MS: '0',
    FINGERPRINT_APPLICATIONS: JSON.stringify(applications),
    FINGERPRINT_URL_EU: addresses['fingerprint-EU'],
    FINGERPRINT_URL_NA: addresses['fingerprint-NA'],
    FINGERPRINT_URL_GLB: addresses['fingerprint-GLB'],
    CAPTCHA_CONFIGURATIONS: `[{"captchaId":"${'b'.repeat(32)}","captchaKey":"key_soak","region":"EU"}]`,
    CAPTCHA_URL_EU: addresses['captcha-EU'],
  };
}

/** Rejects after 5 s. */
export async function textAt(url: string): Promise<string> {
  return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).text();
}

function readMetrics(text: string): ReadonlyMap<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const gap = line.lastIndexOf(' ');
      return [line.slice(0, gap), Number(line.slice(gap + 1))];
    }),
  );
}
