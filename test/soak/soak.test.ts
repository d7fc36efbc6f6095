import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ProcessGroup, startGroup } from '../support/process-group.ts';

/** The soak as a program, in its shortest form. Its figures mean nothing here. */

let folder: string;
let soak: ProcessGroup | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'soak-'));
});
afterEach(async () => {
  await soak?.stop();
  soak = undefined;
  rmSync(folder, { recursive: true });
});

function startSoak(...options: string[]): ProcessGroup {
  soak = startGroup('test/soak/main.ts', ...options);
  return soak;
}

test('--smoke prints each promise beside its figure, writes the same as JSON, and leaves no process behind', async () => {
  const json = join(folder, 'findings.json');
  const { ended, stdout, stderr, expectNothingLeft } = startSoak('--smoke', '--json', json);
  const code = await ended;
  const [printed, problems] = [stdout(), stderr()];
  // Node itself says when its inspector is used.
  expect(problems.match(/^[a-z-]+$/gm)).toEqual(['overload-captcha', 'outage', 'memory']);
  expect(problems).not.toMatch(/fail|Error/);
  await expectNothingLeft();

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
  const { stderr, end, expectNothingLeft } = startSoak('--smoke');
  await expect.poll(stderr, { timeout: 10_000 }).toContain('overload');
  expect(await end('SIGINT')).toBe(1);
  await expectNothingLeft();
}, 20_000);

test('a name that it does not know ends it with a list of those that it does', async () => {
  const { ended, stderr } = startSoak('--only', 'nothing');
  expect(await ended).toBe(1);
  expect(stderr()).toMatch(/^there is no scenario nothing; there is overload-fingerprint, .*\n\nOptions:\n/);
});
