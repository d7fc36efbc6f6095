import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ProcessGroup, startGroup } from '../support/process-group.ts';
import { sendJson, startUpstream, type TestUpstream } from '../support/upstream.ts';
import { type Children, createChildren } from './children.ts';
import { checkAnswers, openTestbed } from './testbed.ts';

/** The benchmark as a program, in its shortest form. Its figures mean nothing here. */

let folder: string;
let bench: ProcessGroup | undefined;
let children: Children | undefined;
let server: TestUpstream | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bench-'));
});
afterEach(async () => {
  await Promise.all([bench?.stop(), children?.endAll(), server?.stop()]);
  [bench, children, server] = [undefined, undefined, undefined];
  rmSync(folder, { recursive: true });
});

function startBench(...options: string[]): ProcessGroup {
  bench = startGroup('test/bench/main.ts', ...options);
  return bench;
}

test('--smoke prints a table, writes the same as JSON, and leaves no process behind', async () => {
  const json = join(folder, 'results.json');
  const { ended, stdout, stderr, expectNothingLeft } = startBench('--smoke', '--json', json);
  expect([await ended, stderr()]).toEqual([0, 'ours warms up\nfloor warms up\nsingle\n']);
  await expectNothingLeft();
  const printed = stdout();

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
  const { stderr, end, expectNothingLeft } = startBench('--smoke');
  await expect.poll(stderr, { timeout: 10_000 }).toContain('warms up');
  expect(await end('SIGINT')).toBe(1);
  await expectNothingLeft();
  expect(stderr()).toMatch(/^(?:ours warms up\n)(?:floor warms up\n)?$/);
}, 20_000);

test('a name that it does not know ends it with a list of those that it does', async () => {
  const { ended, stderr } = startBench('--only', 'nobody');
  expect(await ended).toBe(1);
  expect(stderr()).toMatch(/^there is no contender nobody; there is ours, floor, .*\n\nOptions:\n/);
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
  const testbed = await openTestbed(children, true);
  const job = { url: server.url, headers: {}, workload: 'single', answerBytes: 7, connections: 2, pid: process.pid };
  await expect(testbed.load({ ...job, warmUpMs: 0, ms: 5_000 })).rejects.toThrow(
    'expected 200 with 7 bytes, but got 200 with "wrong."',
  );
  // The generator is still there for the next job.
  answers = -1_000_000;
  const round = await testbed.load({ ...job, warmUpMs: 0, ms: 50 });
  expect(round.requests).toBeGreaterThan(2);
});
