import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { scrape } from '../observability/exposition.ts';
import { freePort } from '../support/ports.ts';
import { COMPILED, MAIN, ROOT, startCommand } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { type Context, LIVE, preload } from './environments.ts';

/** A process goes on serving while neither stdout nor stderr can be written. One after the other, since starting takes a core. */

/** As long as the line of an operation shows them. */
const CLIENT = Object.fromEntries(
  ['x-request-id', 'apollographql-client-name', 'apollographql-client-version'].map((name) => [name, 'c'.repeat(64)]),
);

/** Starts the server under bash with these redirections, on a port that was chosen before, since it cannot log its own. */
async function startRedirected(
  { onTestFinished }: Context,
  redirections: string,
  env: Readonly<Record<string, string>> = LIVE,
) {
  const [port, adminPort] = [await freePort(), await freePort()];
  const { PATH = '' } = process.env;
  const child = startCommand(['bash', '--norc', '-c', `exec "${process.execPath}" ${MAIN} ${redirections}`], {
    cwd: ROOT,
    env: { PATH, ...COMPILED, ...env, PORT: `${port}`, ADMIN_PORT: `${adminPort}` },
  });
  onTestFinished(child.stop);
  const url = `http://127.0.0.1:${port}`;
  const isReady = () =>
    fetch(`${url}/readyz`)
      .then(({ ok }) => ok)
      .catch(() => false);
  await expect.poll(isReady).toBe(true);
  let asked = 0;
  /** Asks this many operations, each of which writes a line of about 480 bytes, and expects an answer to each. */
  const askSome = async (count: number) => {
    for (const end = asked + count; asked < end; asked += 50) {
      const names = Array.from({ length: 50 }, (_, at) => `${'N'.repeat(50)}${asked + at}`);
      const answers = await Promise.all(
        names.map((name) => ask(`${url}/graphql`, `query ${name} { __typename }`, {}, CLIENT)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    }
  };
  const metricsUrl = `http://127.0.0.1:${adminPort}/metrics`;
  /** How many lines the metrics count as dropped. */
  const dropped = async () => (await scrape(metricsUrl)).value('device_trust_log_lines_dropped_total');
  return { child, ask: askSome, dropped };
}

test.for([
  ['readers have ended, and a stop drains', '> >(true) 2> >(true)', 'SIGTERM', 0],
  ['files are closed, and a crash ends the process with 1', '>&- 2>&-', 'SIGUSR2', 1],
] as const)(
  'requests are answered when stdout and stderr have no reader: the %s',
  async ([, redirections, signal, code], context) => {
    const server = await startRedirected(context, redirections, { ...LIVE, ...preload('exception at SIGUSR2') });
    for (let round = 0; round < 4; round += 1) {
      await server.ask(50);
      // The time of more than one write.
      await sleep(150);
    }
    expect(await server.child.end(signal)).toBe(code);
  },
);

test('when the disk is full, requests are answered, and every line is counted', async (context) => {
  const server = await startRedirected(context, '> /dev/full 2> /dev/full');
  await server.ask(50);
  // The three lines of the start as well.
  await expect.poll(server.dropped).toBe(53);
  expect(await server.child.end('SIGTERM')).toBe(0);
});
