import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ROOT } from '../support/process.ts';

/** The soak as a program, in its shortest form. Its figures mean nothing here. */

let folder: string;
let soak: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'soak-'));
});
afterEach(() => {
  if (soak && groupLives(soak)) process.kill(-groupOf(soak), 'SIGKILL');
  soak = undefined;
  rmSync(folder, { recursive: true });
});

/** Starts it as the leader of a process group, to which all that it starts belong. */
function startSoak(...options: string[]): ChildProcess {
  soak = spawn(process.execPath, ['test/soak/main.ts', ...options], { cwd: ROOT, stdio: 'pipe', detached: true });
  return soak;
}

function groupOf({ pid }: ChildProcess): number {
  if (pid === undefined) throw new Error('the soak did not start');
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

test('--smoke prints each promise beside its figure, writes the same as JSON, and leaves no process behind', async () => {
  const json = join(folder, 'findings.json');
  const child = startSoak('--smoke', '--json', json);
  if (!child.stdout || !child.stderr) throw new Error('expected pipes');
  const [printed, problems, code] = await Promise.all([text(child.stdout), text(child.stderr), exitOf(child)]);
  // Node itself says when its inspector is used.
  expect(problems.match(/^[a-z-]+$/gm)).toEqual(['overload-captcha', 'outage', 'memory']);
  expect(problems).not.toMatch(/fail|Error/);
  await waitForEmptyGroup(child);

  expect(printed).toMatch(/^Node v\d+\.\d+\.\d+, \d+ cores, /m);
  expect(printed).toMatch(/^ {2}promise +promised +kept +measured$/m);
  expect(printed).toMatch(/^ {2}10× overload, captcha: goodput to its peak +≥ 0\.9 +(?:yes|no) /m);
  expect(printed).toMatch(/^ {2}outage \(hang\): p99 of a failure .* ≤ 50 ms +(?:yes|no) /m);
  const { findings, environment } = JSON.parse(readFileSync(json, 'utf8'));
  expect(environment).toMatchObject({ node: process.version, size: 'smoke' });
  expect(printed.match(/^ {2}.* {2}(?:yes|no) {2}/gm)).toHaveLength(findings.length);
  // No figure, but what load cannot change: a refusal is no permission, however slow it comes.
  expect(findings).toContainEqual(
    expect.objectContaining({ promise: expect.stringMatching(/OVERLOADED/), kept: true }),
  );
  expect(code).toBe(findings.every(({ kept }: { kept: boolean }) => kept) ? 0 : 1);
}, 40_000);

test('SIGINT ends it and all that it started', async () => {
  const child = startSoak('--smoke');
  const exit = exitOf(child);
  const begun = new Promise((resolve) => child.stderr?.once('data', resolve));
  await Promise.race([begun, exit]);
  child.kill('SIGINT');
  expect(await exit).toBe(1);
  await waitForEmptyGroup(child);
}, 20_000);

test('a name that it does not know ends it with a list of those that it does', async () => {
  const child = startSoak('--only', 'nothing');
  if (!child.stderr) throw new Error('expected a pipe');
  const [problems, code] = await Promise.all([text(child.stderr), exitOf(child)]);
  expect(code).toBe(1);
  expect(problems).toMatch(/^there is no scenario nothing; there is overload-fingerprint, .*\n\nOptions:\n/);
});
