import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { expect, test } from 'vitest';
import { ROOT } from '../support/process.ts';
import { DOCKERFILE, instructions } from './dockerfile.ts';

/** What the Dockerfile says, without building it; `image.test.ts` builds it. */

test('it is a Dockerfile, and the linter has nothing to say', () => {
  expect(validate(DOCKERFILE)).toEqual([]);
  expect(validate('FROM node\nCMD [node]\nWORKDIR')).not.toEqual([]);
});

test('every stage begins with the one base, or with a stage that does', () => {
  const stages = instructions('FROM').map((text) => text.split(' AS '));
  const names = stages.map(([, name]) => name);
  for (const [from] of stages) expect(['$BASE', ...names]).toContain(from);
});

test('no package runs a script at install', () => {
  const installs = instructions('RUN').filter((command) => command.includes('npm ci'));
  expect(installs).toHaveLength(2);
  for (const command of installs) expect(command).toContain(' --ignore-scripts');
});

test('the build sees exactly what the Dockerfile copies', () => {
  const copied = instructions('COPY')
    .filter((text) => !text.startsWith('--from='))
    .flatMap((text) => text.split(' ').slice(0, -1));
  const [all, ...allowed] = readFileSync(join(ROOT, '.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line && !line.startsWith('#'));
  expect(all).toBe('*');
  expect(allowed).toEqual([...new Set(copied)].sort().map((path) => `!${path}`));
});
