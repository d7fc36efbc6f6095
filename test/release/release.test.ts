import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { releaseNotes } from '../../.github/release-notes.ts';
import { ROOT } from '../support/process.ts';

/** What has to agree before a tag becomes a release. */

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { version, engines, devDependencies } = JSON.parse(read('package.json'));
const allIn = (path: string, pattern: RegExp) => [...read(path).matchAll(pattern)].map(([, found]) => found);

test('Node is the same in what is shipped, what the tests run on, and what CI runs on', () => {
  const [image, ...others] = allIn('deploy/Dockerfile', /^ARG BASE=(node:\S+)$/gm);
  expect([image, others]).toEqual([expect.stringMatching(/@sha256:[0-9a-f]{64}$/), []]);
  expect(image).toContain(`node:${devDependencies.node}-slim@`);
  expect(allIn('.github/workflows/ci.yml', /image: (node:\S+)/g)).toEqual([image]);
  expect(read('.node-version')).toBe(`${devDependencies.node}\n`);
  expect(devDependencies['@types/node'].split('.')[0]).toBe(devDependencies.node.split('.')[0]);
  expect(devDependencies.node.localeCompare(engines.node.slice(2), 'en', { numeric: true })).toBe(1);
});

test('the version is the same in the package, the lock file, the manifests and the page for operators', () => {
  const { packages, version: locked } = JSON.parse(read('package-lock.json'));
  expect([locked, packages[''].version]).toEqual([version, version]);
  const shown = [
    ...allIn('deploy/kubernetes/kustomization.yaml', /newTag: (\S+)/g),
    ...allIn('deploy/Dockerfile', /^ARG VERSION=(\S+)/gm),
    ...['deploy/README.md', 'deploy/vm/README.md'].flatMap((page) =>
      allIn(page, /(?:device-trust-subgraph[:-]|VERSION=|refs\/tags\/v)(\d+\.\d+\.\d+)/g),
    ),
  ];
  expect(shown.length).toBeGreaterThan(2);
  expect(new Set(shown)).toEqual(new Set([version]));
});

test('CI builds the manifests with the oldest kubectl that the pages name', () => {
  const named = [
    ...allIn('deploy/README.md', /kubectl from 1\.(\d+) on/g),
    ...allIn('test/README.md', /`kubectl` from version 1\.(\d+) on/g),
    ...allIn('test/deploy/kubernetes.all.test.ts', /kubectl from version 1\.(\d+) on/g),
  ];
  expect(named).toHaveLength(3);
  expect(new Set([...named, ...allIn('.ci/run', /lambda-layer-kubectl-v(\d+)/g)]).size).toBe(1);
});

test('rover is the same in the page and in both workflows', () => {
  const workflows = ['.github/workflows/ci.yml', '.github/workflows/release.yml'];
  const files = ['README.md', ...workflows];
  expect(new Set(files.flatMap((file) => allIn(file, /@apollo\/rover@(\d+\.\d+\.\d+)/g))).size).toBe(1);
});

const CHANGELOG =
  '# Changelog\n\n## [Unreleased]\n\n## [1.1.0] - 2026-11-30\n\n- A [field](schema/README.md#a).\n\n## [1.0.0] - 2026-01-02\n\n- The first.\n\n## [0.9.0]\n\n- x\n';

test('the notes of a release are the section of its version', () => {
  expect(releaseNotes('v1.1.0', '1.1.0', CHANGELOG, 'https://x')).toBe('- A [field](https://x/schema/README.md#a).');
  for (const name of allIn('CHANGELOG.md', /^## \[(\d.+?)\]/gm))
    expect(releaseNotes(`v${name}`, `${name}`, read('CHANGELOG.md'), '')).toContain('- ');
});

test('a tag without a section for the next changes is refused', () => {
  const dated = CHANGELOG.replace('## [Unreleased]\n\n', '');
  expect(() => releaseNotes('v1.1.0', '1.1.0', dated, '')).toThrow('expected a section "## [Unreleased]" first');
});

test.each([
  ['another version', 'v1.1.0', '1.0.0', 'The tag is v1.1.0, but package.json has version 1.0.0'],
  ['a version that is not there', 'v1.1', '1.1', 'expected a section "## [1.1] - "'],
  ['a section without a date', 'v0.9.0', '0.9.0', 'expected a section "## [0.9.0] - "'],
])('a tag of %s is refused', (_what, tag, own, message) => {
  expect(() => releaseNotes(tag, own, CHANGELOG, '')).toThrow(message);
});
