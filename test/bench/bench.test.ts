import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ROOT } from '../support/process.ts';
import { sendJson, startUpstream, type TestUpstream } from '../support/upstream.ts';
import { type Children, createChildren } from './children.ts';
import { checkAnswers, openField } from './field.ts';

/** The benchmark as a program, in its shortest form. Its figures mean nothing here. */

let folder: string;
let bench: ChildProcess | undefined;
let children: Children | undefined;
let server: TestUpstream | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-'));
});
afterEach(async () => {
  if (bench && groupLives(bench)) process.kill(-groupOf(bench), 'SIGKILL');
  await Promise.all([children?.endAll(), server?.stop()]);
  [bench, children, server] = [undefined, undefined, undefined];
  rmSync(folder, { recursive: true });
});

/** Starts it as the leader of a process group, to which all that it starts belong. */
function startBench(...options: string[]): ChildProcess {
  bench = spawn(process.execPath, ['test/bench/main.ts', ...options], { cwd: ROOT, stdio: 'pipe', detached: true });
  return bench;
}

function groupOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('the benchmark did not start');
  return pid;
}

function groupLives(child: ChildProcess): boolean {
  try {
    return process.kill(-groupOf(child), 0);
  } catch {
    return false;
  }
}

const exitOf = (child: ChildProcess) =>
  new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));

/** For as long as the system takes to forget a process that ended. */
async function waitForEmptyGroup(child: ChildProcess): Promise<void> {
  for (let tries = 0; groupLives(child) && tries < 50; tries += 1) await sleep(20);
  expect(groupLives(child)).toBe(false);
}

test('--smoke prints a table, writes the same as JSON, and leaves no process behind', async () => {
  const json = join(folder, 'results.json');
  const child = startBench('--smoke', '--json', json);
  if (!child.stdout || !child.stderr) throw new Error('expected pipes');
  const [printed, problems, code] = await Promise.all([text(child.stdout), text(child.stderr), exitOf(child)]);
  expect([code, problems]).toEqual([0, 'ours warms up\nfloor warms up\nsingle\n']);
  await waitForEmptyGroup(child);

  expect(printed).toMatch(/^Node v\d+\.\d+\.\d+, \d+ cores, .+; (?:not )?pinned: /m);
  expect(printed).toMatch(/^ {2}ours +\d+\.\d +\d+\.\d\d× +0 % +\d+ +\d+\.\d\d +\d+\.\d\d +\d+ % +(?:\d+ %|-)$/m);
  expect(printed).toMatch(/^ {2}floor +\d+\.\d +1\.00× /m);
  expect(printed).toMatch(/^ {2}single query: CPU to the floor +\d+\.\d\d +1\.50 +(?:yes|no)$/m);

  const { environment, closed, goals } = JSON.parse(readFileSync(json, 'utf8'));
  expect(environment).toMatchObject({
    node: process.version,
    size: 'smoke',
    packages: { graphql: expect.any(String) },
  });
  expect(Object.keys(closed)).toEqual(['single']);
  for (const name of ['ours', 'floor']) {
    const { cpuMicros, rate, p50, p99 } = closed.single[name];
    // Not a figure, but what no machine falls short of: more than a µs, and more than a request in 10 ms.
    expect(cpuMicros).toBeGreaterThan(1);
    expect(rate).toBeGreaterThan(10);
    expect(p99).toBeGreaterThanOrEqual(p50);
  }
  expect(goals).toHaveLength(1);
}, 20_000);

test('SIGINT ends it and all that it started', async () => {
  const child = startBench('--smoke');
  let problems = '';
  const begun = Promise.withResolvers<void>();
  child.stderr?.setEncoding('utf8').on('data', (said: string) => {
    problems += said;
    begun.resolve();
  });
  const exit = exitOf(child);
  await Promise.race([begun.promise, exit]);
  child.kill('SIGINT');
  expect(await exit).toBe(1);
  await waitForEmptyGroup(child);
  expect(problems).toMatch(/^(?:ours warms up\n)(?:floor warms up\n)?$/);
}, 20_000);

test('a name that it does not know ends it with a list of those that it does', async () => {
  const child = startBench('--only', 'nobody');
  if (!child.stderr) throw new Error('expected a pipe');
  const [problems, code] = await Promise.all([text(child.stderr), exitOf(child)]);
  expect(code).toBe(1);
  expect(problems).toMatch(/^there is no contender nobody; there is ours, floor, .*\n\nOptions:\n/);
});

const NOT_PINNED = { server: [], others: [], note: 'not pinned' };

test('a contender whose answer differs in one word is refused', async () => {
  server = await startUpstream((_request, response) => {
    const errors = [{ field: 'token', reason: 'Invalid tokens', type: 'value_error' }];
    const deviceFingerprint = { __typename: 'DeviceFingerprintRejected', reason: 'INVALID_TOKEN', errors };
    sendJson(response, 200, { data: { deviceFingerprint } });
  });
  const liar = { name: 'liar', url: server.url, headers: { 'x-key': 'k' }, pid: process.pid, end: async () => {} };
  await expect(checkAnswers(liar, 'rejected')).rejects.toThrow(/^liar answers rejected wrongly:\n.*Invalid tokens/);
  expect(server.received[0]?.headers).toMatchObject({ 'x-key': 'k', 'content-type': 'application/json' });
});

test('load fails once an answer is of another length, even in the middle', async () => {
  let answers = 0;
  server = await startUpstream((_request, response) => {
    answers += 1;
    sendJson(response, 200, answers < 20 ? 'right' : 'wrong.');
  });
  children = createChildren(NOT_PINNED, process.env['PATH'] ?? '');
  const field = await openField(children, true);
  const job = { url: server.url, headers: {}, workload: 'single', answerBytes: 7, connections: 2, pid: process.pid };
  await expect(field.load({ ...job, warmUpMs: 0, ms: 5_000 })).rejects.toThrow(
    'expected 200 with 7 bytes, but got 200 with "wrong."',
  );
  // The generator is still there for the next job.
  answers = -1_000_000;
  const round = await field.load({ ...job, warmUpMs: 0, ms: 50 });
  expect(round.requests).toBeGreaterThan(2);
});
