import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { json, request } from '../support/requests.ts';
import type { Child, Children } from './children.ts';
import { ROOT } from './children.ts';
import type { Contender } from './contenders.ts';
import type { LoadJob, LoadResult, Round } from './load-job.ts';
import { ROUTER_HEADERS } from './production.ts';
import type { Workload } from './workload.ts';
import { workloadNamed } from './workloads.ts';

/** The processes of one run: the upstream, the load generator, and contenders as they are wanted. */
export interface Testbed {
  readonly upstreamUrl: string;
  readonly upstreamPid: number;
  /** Starts a contender. Resolves when it says where it is. */
  start(contender: Contender, options?: StartOptions): Promise<Running>;
  /** Puts load on an address. Rejects if an answer is not as it should be. */
  load(job: LoadJob): Promise<Round>;
  /** The same for several addresses at the same time, with a load generator for each. */
  loadAll(jobs: readonly LoadJob[]): Promise<Round[]>;
}

interface StartOptions {
  readonly nodeOptions?: readonly string[];
  /** More of the environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where it runs: on the core of the server without it. */
  readonly core?: 'server' | 'others';
}

/** A contender that runs. */
export interface Running {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pid: number;
  end(): Promise<void>;
}

/** @param fromSource run sources instead of builds; memory and starts are another's then */
export async function openTestbed(children: Children, fromSource: boolean): Promise<Testbed> {
  const upstream = children.start('others', ['test/bench/upstream.ts']);
  const generators: Child[] = [];
  /** The load generators are started when they are wanted: most of the time there is one. */
  const generator = (at: number): Child => {
    const child = generators[at] ?? children.start('others', ['test/bench/load.ts'], { answers: true });
    generators[at] = child;
    return child;
  };
  const upstreamUrl = await upstream.url;

  async function start({ name, built, source, env }: Contender, options: StartOptions = {}): Promise<Running> {
    const { nodeOptions = [], env: more = {}, core = 'server' } = options;
    const script = fromSource ? source : built;
    if (!existsSync(join(ROOT, script))) throw new Error(`${script} is not there: "npm run bench" builds it`);
    const entries = Object.entries({ ...env, ...more });
    const filled = entries.map(([key, value]) => [key, value.replace('{upstream}', upstreamUrl)]);
    const child = children.start(core, [...nodeOptions, script], { env: Object.fromEntries(filled) });
    return { name, headers: ROUTER_HEADERS, url: await child.url, pid: child.pid, end: child.end };
  }

  async function loadBy(child: Child, job: LoadJob): Promise<Round> {
    // Sound: this is what the load generator answers.
    const result = (await child.ask(job)) as LoadResult;
    if ('failure' in result) {
      const hint = result.failure.includes('OVERLOADED') ? 'this machine is too busy: the server sheds load. ' : '';
      throw new Error(`${hint}${job.url}, ${job.workload}: ${result.failure}`);
    }
    return result;
  }

  return {
    upstreamUrl,
    upstreamPid: upstream.pid,
    start,
    load: (job) => loadBy(generator(0), job),
    loadAll: (jobs) => Promise.all(jobs.map((job, at) => loadBy(generator(at), job))),
  };
}

/**
 * What puts a workload on a contender, except for how long. Its answers are checked first.
 *
 * @throws Error as `checkAnswers` does
 */
export async function jobFor(running: Running, workload: string): Promise<Omit<LoadJob, 'warmUpMs' | 'ms'>> {
  const { url, headers, pid } = running;
  const { connections } = workloadNamed(workload);
  return { url, headers, pid, workload, connections, answerBytes: await checkAnswers(running, workload) };
}

/** Enough requests for whatever compiles a document only when it has seen it before. */
const CHECKS = 3;

/**
 * Asks a contender a few times for known answers.
 *
 * @returns the length of each of its answers in bytes, by which load is checked
 * @throws Error if a single byte of `data`, the status or a code is another one
 */
async function checkAnswers({ name, url, headers }: Running, workloadName: string): Promise<number> {
  const workload = workloadNamed(workloadName);
  const lengths = new Set<number>();
  for (let number = 1; number <= CHECKS; number += 1) {
    const { status, text } = await request(url, json(workload.body(number), headers));
    const answer = shown(workload, status, text);
    const expected = expectedOf(workload, number);
    if (answer !== expected) {
      throw new Error(
        `${name} answers ${workloadName} wrongly:\n${answer.slice(0, 1_000)}\ninstead of\n${expected.slice(0, 1_000)}`,
      );
    }
    lengths.add(Buffer.byteLength(text));
  }
  const [length = 0, ...others] = lengths;
  if (others.length > 0) throw new Error(`${name} answers ${workloadName} in different lengths: ${[...lengths]}`);
  return length;
}

/** What counts of an answer. */
function shown({ unpredictable }: Workload, status: number, text: string): string {
  const { data, errors } = JSON.parse(unpredictable ? text.replaceAll(unpredictable, '...') : text);
  const codes = errors?.map(({ extensions }: { extensions?: { code?: string } }) => extensions?.code);
  return JSON.stringify({ status, codes, data });
}

function expectedOf({ status = 200, errors, data }: Workload, number: number): string {
  return JSON.stringify({ status, codes: errors, data: data(number) });
}
