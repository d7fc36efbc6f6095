import { Pool } from 'undici';
import { openLoop } from '../bench/loops.ts';
import type { PeopleJob } from './bot-job.ts';
import { type Visit, visit } from './people.ts';

/** The people beside the bot, in a process of their own. */

const CONNECTIONS = 64;
const GIVE_UP_MS = 15_000;

async function run({ url, rate, ms }: PeopleJob): Promise<readonly Visit[]> {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, {
    connections: CONNECTIONS,
    pipelining: 1,
    headersTimeout: GIVE_UP_MS,
    bodyTimeout: GIVE_UP_MS,
  });
  const visits: Visit[] = [];
  const send = async () => {
    visits.push(...(await Promise.all([visit(pool, pathname, 'EU'), visit(pool, pathname, 'captcha')])));
  };
  try {
    await openLoop(send, rate, ms);
  } finally {
    await pool.destroy();
  }
  return visits;
}

process.on('message', async (job: PeopleJob) => {
  process.send?.(await run(job));
});
// Without the parent process there is nothing to do.
process.once('disconnect', () => process.exit());
