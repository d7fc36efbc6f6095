import { Pool } from 'undici';
import { dispatchPost } from '../bench/dispatch.ts';
import { closedLoop, openLoop } from '../bench/loops.ts';
import type { LoadJob, LoadResult, Stream } from './load-job.ts';
import { QUESTIONS, type Question } from './questions.ts';
import { readAnswer, type Sample } from './samples.ts';
import { ROUTER_SECRET } from './secret.ts';

/** The load generator, a process of its own. Unlike that of the benchmark it takes every answer, and keeps what it was. */

/** No request waits for longer, in ms. */
const GIVE_UP_MS = 15_000;
const HEADERS = { 'router-authorization': ROUTER_SECRET };

/** Number of the last request; none is used twice. */
let last = 0;

async function run({ url, question: name, ms, connections, rate }: Stream): Promise<Sample[]> {
  const { origin, pathname: path } = new URL(url);
  const pool = new Pool(origin, { connections, pipelining: 1, headersTimeout: GIVE_UP_MS, bodyTimeout: GIVE_UP_MS });
  const question: Question = QUESTIONS[name];
  const samples: Sample[] = [];
  const send = async (due: number) => {
    last += 1;
    const number = last;
    const late = performance.now() - due;
    const answer = await post(pool, path, question.body(number));
    const ms = performance.now() - due;
    const read = answer.status === 0 ? LOST : readAnswer(question, number, answer.text);
    const { status, retryAfter, note } = answer;
    samples.push({ number, at: performance.timeOrigin + due, ms, late, status, retryAfter, note, ...read });
  };
  try {
    // A router has its connections open already; a server that is busy takes new ones slowly.
    await Promise.all(Array.from({ length: connections }, () => post(pool, path, '{"query":"{__typename}"}')));
    await (rate === undefined ? closedLoop(send, connections, ms) : openLoop(send, rate, ms));
  } finally {
    await pool.destroy();
  }
  return samples;
}

const LOST = { outcome: 'lost', proceeds: false };

interface Answer extends Pick<Sample, 'status' | 'retryAfter' | 'note'> {
  readonly text: string;
}

/** Never rejects: a connection that breaks is an answer like any other. */
async function post(pool: Pool, path: string, body: string): Promise<Answer> {
  try {
    const { status, header, body: read } = await dispatchPost(pool, path, HEADERS, body);
    const retryAfter = header('retry-after') !== undefined;
    return { status, retryAfter, note: header('x-replica') ?? '', text: read().toString() };
  } catch (error) {
    return { status: 0, retryAfter: false, note: error instanceof Error ? error.message : String(error), text: '' };
  }
}

process.on('message', async (job: LoadJob) => {
  const result: LoadResult = await Promise.all(job.map(run));
  process.send?.(result);
});
// Without the parent process there is nothing to do.
process.once('disconnect', () => process.exit());
