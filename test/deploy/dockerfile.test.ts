import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { validate } from 'dockerfile-utils';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../support/process.ts';
import { DOCKERFILE, lastOf, stagesOf, stepsOf } from './dockerfile.ts';
import { contextPaths } from './image.ts';

/** What the Dockerfile says, without building it; `image.test.ts` builds it. */

const stages = stagesOf(DOCKERFILE);
const last = lastOf(stages);
const commands = stages.flatMap((stage) => stepsOf(stage, 'run').map(({ command }) => command));
const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

test('it is a Dockerfile, and the linter has nothing to say', () => {
  expect(validate(DOCKERFILE)).toEqual([]);
  expect(validate('FROM node\nCMD [node]\nWORKDIR')).not.toEqual([]);
});

test('every image is the official one of the Node that the tests run on', () => {
  const names = stages.map(({ name }) => name);
  const images = stages.map(({ from }) => from).filter((from) => !names.includes(from));
  expect(new Set(images)).toEqual(new Set([`node:${devDependencies.node}-slim`]));
});

test('no package runs a script at install, and only the production dependencies reach the image', () => {
  const installs = commands.filter((command) => command.includes('npm ci'));
  expect(installs).toHaveLength(2);
  for (const command of installs) expect(command).toContain(' --ignore-scripts');
  const source = stepsOf(last, 'copy').find(({ to }) => to === 'node_modules')?.from;
  const installer = stages.find(({ name }) => name === source);
  expect(installer && stepsOf(installer, 'run').map(({ command }) => command)).toEqual([
    expect.stringContaining('--omit=dev'),
  ]);
});

test('the process is Node itself, not root, in production mode', () => {
  expect(stepsOf(last, 'user')).toEqual([{ kind: 'user', user: expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/) }]);
  expect(stepsOf(last, 'entrypoint')).toEqual([{ kind: 'entrypoint', words: ['node'] }]);
  expect(stepsOf(last, 'env')).toEqual([
    { kind: 'env', env: { NODE_ENV: 'production', NODE_COMPILE_CACHE: 'dist/compiled' } },
  ]);
  expect(stepsOf(last, 'run')).toEqual([]);
});

test('the build sees exactly what the Dockerfile copies', async () => {
  const copied = stages.flatMap((stage) =>
    stepsOf(stage, 'copy').flatMap(({ from, sources }) => (from === undefined ? sources : [])),
  );
  expect(await contextPaths()).toEqual([...new Set(copied)].sort());
});

describe('the tests fail at an instruction that they do not understand', () => {
  test.each([
    ['a command in a shell', 'CMD node dist/server/main.js'],
    ['a program in a shell', 'ENTRYPOINT node'],
    ['an unknown flag', 'COPY --chown=0:0 src src'],
    ['a mount', 'RUN --mount=type=cache,target=/root/.npm npm ci'],
    ['an unknown instruction', 'VOLUME /data'],
  ])('%s', (_what, line) => {
    expect(() => stagesOf(`FROM node\n${line}\n`)).toThrow('Nothing here understands');
  });
});
