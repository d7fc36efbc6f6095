import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { json, request } from '../support/requests.ts';
import type { Child, Children } from './children.ts';
import { ROOT } from './children.ts';
import type { Contender } from './contenders.ts';
import type { LoadJob, LoadResult, Round } from './load-job.ts';
import { type Workload, workloadNamed } from './workloads.ts';

/** The processes of one run: the upstream, the load generator, and contenders as they are wanted. */
export interface Testbed {
  readonly upstreamUrl: string;
  readonly upstreamPid: number;
  /** Starts a contender, with options for Node if there are any. Resolves when it says where it is. */
  start(contender: Contender, nodeOptions?: readonly string[]): Promise<Running>;
  /** Puts load on an address. Rejects if an answer is not as it should be. */
  load(job: LoadJob): Promise<Round>;
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
  const load: Child = children.start('others', ['test/bench/load.ts'], { answers: true });
  const upstreamUrl = await upstream.url;

  async function start({ name, built, source, env, headers }: Contender, nodeOptions: readonly string[] = []) {
    const script = fromSource ? source : built;
    if (!existsSync(join(ROOT, script))) throw new Error(`${script} is not there: "npm run bench" builds it`);
    const filled = Object.entries(env).map(([key, value]) => [key, value.replace('{upstream}', upstreamUrl)]);
    const child = children.start('server', [...nodeOptions, script], { env: Object.fromEntries(filled) });
    return { name, headers, url: await child.url, pid: child.pid, end: child.end };
  }

  return {
    upstreamUrl,
    upstreamPid: upstream.pid,
    start,
    load: async (job) => {
      // Sound: this is what the load generator answers.
      const result = (await load.ask(job)) as LoadResult;
      if ('failure' in result) throw new Error(`${job.url}, ${job.workload}: ${result.failure}`);
      return result;
    },
  };
}

/** Enough requests for whatever compiles a document only when it has seen it before. */
const CHECKS = 3;

/**
 * Asks a contender a few times for known answers.
 *
 * @returns the length of each of its answers in bytes, by which load is checked
 * @throws Error if a single byte of `data` is another one
 */
export async function checkAnswers({ name, url, headers }: Running, workloadName: string): Promise<number> {
  const workload = workloadNamed(workloadName);
  const lengths = new Set<number>();
  for (let number = 1; number <= CHECKS; number += 1) {
    const text = await answerTo(url, headers, workload, number);
    const expected = JSON.stringify(workload.data(number));
    const { data, errors } = JSON.parse(text);
    if (errors !== undefined || JSON.stringify(data) !== expected) {
      throw new Error(
        `${name} answers ${workloadName} wrongly:\n${text.slice(0, 1_000)}\ninstead of\n${expected.slice(0, 1_000)}`,
      );
    }
    lengths.add(Buffer.byteLength(text));
  }
  const [length = 0, ...others] = lengths;
  if (others.length > 0) throw new Error(`${name} answers ${workloadName} in different lengths: ${[...lengths]}`);
  return length;
}

async function answerTo(url: string, headers: Running['headers'], { body }: Workload, number: number): Promise<string> {
  const { text } = await request(url, json(body(number), headers));
  return text;
}
