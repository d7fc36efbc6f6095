import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { freePort } from '../support/ports.ts';
import { MAIN, ROOT, startCommand, type TestProcess } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { type Context, LIVE, preload } from './environments.ts';

/** A process goes on serving while neither stdout nor stderr can be written. One after the other, since starting takes a core. */

/** As long as the line of an operation shows them. */
const LONGEST = 'c'.repeat(64);
const CLIENT = {
  'x-request-id': LONGEST,
  'apollographql-client-name': LONGEST,
  'apollographql-client-version': LONGEST,
};

interface Redirected {
  readonly child: TestProcess;
  readonly url: string;
  /** Asks this many operations, each of which writes a line of about 480 bytes, and expects an answer to each. */
  readonly ask: (count: number) => Promise<void>;
  /** How many lines the metrics count as dropped. */
  readonly dropped: () => Promise<number>;
}

/** Starts the server under bash with these redirections, on a port that was chosen before, since it cannot log its own. */
async function startRedirected(
  { onTestFinished }: Context,
  redirections: string,
  env: Readonly<Record<string, string>> = LIVE,
): Promise<Redirected> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const { PATH = '' } = process.env;
  const child = startCommand(['bash', '--norc', '-c', `exec "${process.execPath}" ${MAIN} ${redirections}`], {
    cwd: ROOT,
    env: {
      PATH,
      NODE_COMPILE_CACHE: 'node_modules/.cache/node',
      ...env,
      PORT: `${port}`,
      ADMIN_PORT: `${adminPort}`,
    },
  });
  onTestFinished(child.stop);
  const url = `http://127.0.0.1:${port}`;
  let asked = 0;
  const askSome = async (count: number) => {
    if (asked === 0) await expect.poll(() => isReady(url)).toBe(true);
    for (const end = asked + count; asked < end; asked += 50) {
      const names = Array.from({ length: 50 }, (_, at) => `${'N'.repeat(50)}${asked + at}`);
      const answers = await Promise.all(
        names.map((name) => ask(`${url}/graphql`, `query ${name} { __typename }`, {}, CLIENT)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    }
  };
  const dropped = async () => {
    const text = await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    return Number(/^device_trust_log_lines_dropped_total (\d+)$/m.exec(text)?.[1]);
  };
  return { child, url, ask: askSome, dropped };
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

test('when the readers of stdout and stderr have ended, requests are answered and a stop drains', async (context) => {
  const server = await startRedirected(context, '> >(true) 2> >(true)');
  for (let round = 0; round < 4; round += 1) {
    await server.ask(50);
    // The time of more than one write.
    await sleep(150);
  }
  expect(await server.child.end('SIGTERM')).toBe(0);
});

test('when stdout and stderr are closed, requests are answered, and a crash still ends the process with 1', async (context) => {
  const server = await startRedirected(context, '>&- 2>&-', { ...LIVE, ...preload('exception at SIGUSR2') });
  await server.ask(50);
  await sleep(150);
  expect(await server.child.end('SIGUSR2')).toBe(1);
});

test('when the disk is full, requests are answered, and every line is counted', async (context) => {
  const server = await startRedirected(context, '> /dev/full 2> /dev/full');
  await server.ask(50);
  // The three lines of the start as well.
  await expect.poll(server.dropped).toBe(53);
  expect(await server.child.end('SIGTERM')).toBe(0);
});
