import { describe, expect, test } from 'vitest';
import { lintWorkflow } from './workflow-linter.ts';
import { JOBS, WORKFLOWS } from './workflows.ts';

/** What the workflows of GitHub may do. Nothing here runs one. */

describe.each(WORKFLOWS)('$file', ({ text, permissions, concurrency }) => {
  test("GitHub's validator has nothing to say", async () => {
    expect(await lintWorkflow(text)).toEqual([]);
  });

  test('allows nothing but what a job asks for, and does not run beside itself', () => {
    expect(permissions).toEqual({});
    expect(concurrency).toMatchObject({ group: expect.any(String) });
  });

  test('uses actions by commit, with the version for people and Renovate', () => {
    const uses = [...text.matchAll(/uses: (.*)/g)].map(([, action = '']) => action);
    expect(uses).not.toEqual([]);
    const moving = uses.filter((action) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action));
    expect(moving.filter((action) => !action.startsWith('./.github/workflows/'))).toEqual([]);
  });
});

test('an action has the same commit wherever it is used', () => {
  const uses = WORKFLOWS.flatMap(({ text }) => text.match(/(?<=uses: )[\w-]+\/.*/g) ?? []);
  const names = new Set(uses.map((action) => action.split('@')[0]));
  expect(new Set(uses).size).toBe(names.size);
});

test("GitHub's validator sees mistakes", async () => {
  const wrong = `name: Wrong
on: push
jobs:
  build:
    needs: nothing
    runs-on: ubuntu-24.04
    steps:
      - run: echo \${{ steps.other.outputs.digest }}
      - run: echo \${{ unknown.context }}
        iff: true
`;
  expect(await lintWorkflow(wrong)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^line 5: .*nothing/),
      expect.stringMatching(/^line 8: .*other/),
      expect.stringMatching(/^line 9: .*unknown/),
      expect.stringMatching(/^line 10: .*iff/),
    ]),
  );
});

test('only the jobs that publish may write, each what it publishes', () => {
  const writing = JOBS.flatMap(([name, { permissions = {} }]) =>
    Object.entries(permissions)
      .filter(([, access]) => access !== 'read')
      .map(([scope, access]) => `${name}: ${scope} ${access}`),
  );
  expect(writing.sort()).toEqual([
    'release.yml build: packages write',
    'release.yml release: contents write',
    'release.yml sign: id-token write',
    'release.yml sign: packages write',
  ]);
  for (const [, job] of JOBS) expect(job).toHaveProperty('permissions');
});

test('every job ends by itself', () => {
  for (const [name, job] of JOBS) {
    if (job.uses === undefined)
      expect([name, job['timeout-minutes'] ?? Infinity]).toEqual([name, expect.toSatisfy((minutes) => minutes <= 40)]);
  }
});

test('no text that somebody else can choose becomes a part of a command', () => {
  const commands = JOBS.flatMap(([, { steps = [] }]) => steps.flatMap(({ run }) => run ?? []));
  expect(commands.length).toBeGreaterThan(8);
  for (const command of commands) expect(command).not.toMatch(/\$\{\{/);
});

test('the key of the graph is where no code of the repository runs, and that of a release behind an environment', () => {
  const withKey = JOBS.filter(([, { steps = [] }]) => steps.some(({ env }) => env?.['APOLLO_KEY']));
  expect(withKey.map(([name, { environment }]) => [name, environment])).toEqual([
    ['ci.yml schema-check', undefined],
    ['release.yml schema-publish', 'graph'],
  ]);
  for (const [, { steps = [] }] of withKey) {
    expect(steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))).toEqual([]);
  }
});

test('a checkout leaves no credentials behind', () => {
  const checkouts = JOBS.flatMap(([, { steps = [] }]) => steps).filter(({ uses }) =>
    uses?.startsWith('actions/checkout@'),
  );
  expect(checkouts.length).toBeGreaterThanOrEqual(3);
  for (const step of checkouts) expect(step.with?.['persist-credentials']).toBe(false);
});
