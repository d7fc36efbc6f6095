import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/ports.ts';
import { MAIN, ROOT, startCommand, type TestProcess } from '../support/process.ts';
import { ask } from '../support/requests.ts';
import { LIVE, preload, SANDBOX } from './environments.ts';

/** A process goes on serving while neither stdout nor stderr can be written. */

/** As long as the line of an operation shows them. */
const CLIENT = { 'x-request-id': 'r'.repeat(64), 'apollographql-client-name': 'c'.repeat(64) };

interface Redirected {
  readonly child: TestProcess;
  readonly url: string;
  /** Asks this many operations, each of which writes a line of about 400 bytes, and expects an answer to each. */
  readonly ask: (count: number) => Promise<void>;
}

/** Starts the server under bash with these redirections, on a port that was chosen before, since it cannot log its own. */
async function startRedirected(
  redirections: string,
  env: Readonly<Record<string, string>> = LIVE,
): Promise<Redirected> {
  const port = await freePort();
  const { PATH = '' } = process.env;
  const child = startCommand(['bash', '--norc', '-c', `exec "${process.execPath}" ${MAIN} ${redirections}`], {
    cwd: ROOT,
    env: { PATH, ADMIN_PORT: '0', ...env, PORT: `${port}` },
  });
  onTestFinished(child.stop);
  const url = `http://127.0.0.1:${port}`;
  let asked = 0;
  const askSome = async (count: number) => {
    if (asked === 0) await expect.poll(() => isReady(url), { timeout: 20_000 }).toBe(true);
    for (const end = asked + count; asked < end; asked += 50) {
      const names = Array.from({ length: 50 }, (_, at) => `${'N'.repeat(50)}${asked + at}`);
      const answers = await Promise.all(
        names.map((name) => ask(`${url}/graphql`, `query ${name} { __typename }`, {}, CLIENT)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
    }
  };
  return { child, url, ask: askSome };
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

/** A named pipe, which lets a test be its reader at some times and not at others. */
function createPipe() {
  const folder = mkdtempSync(join(tmpdir(), 'device-trust-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const bytes = Buffer.alloc(65_536);
  /** `mode` decides whether it is a reader only, or keeps the pipe open for a writer that starts later. */
  const open = (mode = constants.O_RDONLY) => {
    const descriptor = openSync(path, mode | constants.O_NONBLOCK);
    let text = '';
    /** Everything that was read so far. */
    const read = () => {
      try {
        for (let size = readSync(descriptor, bytes); size > 0; size = readSync(descriptor, bytes)) {
          text += bytes.toString('latin1', 0, size);
        }
      } catch (error) {
        if (Object(error).code !== 'EAGAIN') throw error;
      }
      return text;
    };
    return { read, close: () => closeSync(descriptor) };
  };
  return { path, open };
}

const operationsIn = (log: string) => log.match(/"msg":"operation"/g)?.length ?? 0;
const droppedIn = (log: string) => Number(/"dropped":(\d+)/.exec(log)?.[1]);

test('when the readers of both have ended, requests are answered and a stop drains', async () => {
  const server = await startRedirected('> >(true) 2> >(true)');
  for (let round = 0; round < 4; round += 1) {
    await server.ask(50);
    // The time of more than one write.
    await sleep(150);
  }
  expect(await server.child.end('SIGTERM')).toBe(0);
});

test('when both are closed, requests are answered, and a crash still ends it with 1', async () => {
  const server = await startRedirected('>&- 2>&-', { ...LIVE, ...preload('exception at SIGUSR2') });
  await server.ask(50);
  await sleep(150);
  expect(await server.child.end('SIGUSR2')).toBe(1);
});

test('when the readers of both have ended, a crash before there is a log still ends it with 1', async () => {
  const { child } = await startRedirected('> >(true) 2> >(true)', { ...SANDBOX, ...preload('exception at the start') });
  expect(await child.ended).toBe(1);
});

test('when nobody reads their pipes, at most 1 MiB of lines waits; the next reader gets a line that counts what is missing', async () => {
  const pipe = createPipe();
  const end = pipe.open(constants.O_RDWR);
  onTestFinished(end.close);
  const server = await startRedirected(`> ${pipe.path} 2> ${pipe.path}`);
  await server.ask(4_000);
  await expect.poll(() => droppedIn(end.read()), { timeout: 10_000 }).toBeGreaterThan(500);
  // All lines but `ready` are operations, and each was either written or counted.
  expect(operationsIn(end.read()) + droppedIn(end.read())).toBe(4_000);
  // What waited, and what the pipe and the last batch held.
  expect(end.read().length).toBeLessThan(1.2 * 1_024 * 1_024);
  expect(await server.child.end('SIGTERM')).toBe(0);
}, 90_000);

test.each([
  ['stdout', (path: string) => `> ${path} 2> /dev/full`],
  ['stderr', (path: string) => `2> ${path} > /dev/full`],
])(
  'when the disk of the other one is full, the reader of %s ends and another one comes, that one gets a line that counts what is missing',
  async (_which, redirect) => {
    const pipe = createPipe();
    const first = pipe.open();
    const server = await startRedirected(redirect(pipe.path));
    await server.ask(50);
    await expect.poll(() => operationsIn(first.read())).toBe(50);
    first.close();
    await server.ask(100);
    await sleep(300);

    const second = pipe.open();
    onTestFinished(second.close);
    await expect.poll(() => droppedIn(second.read())).toBe(100);
    await server.ask(50);
    await expect.poll(() => operationsIn(second.read())).toBe(50);
    expect(await server.child.end('SIGTERM')).toBe(0);
  },
);
