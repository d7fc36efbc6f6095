import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { instructions } from '../deploy/dockerfile.ts';
import { kustomization } from '../deploy/manifests.ts';
import { ROOT } from '../support/process.ts';
import { JOBS } from './workflows.ts';

/** What has to be the same version in several files, is. */

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { version, license, devDependencies } = JSON.parse(read('package.json'));

test('Node: what is shipped, what the tests run on, and what CI runs on', () => {
  const [base = ''] = instructions('ARG').filter((text) => text.startsWith('BASE='));
  expect(base).toMatch(/^BASE=node:\d+\.\d+\.\d+-slim@sha256:[0-9a-f]{64}$/);
  expect(base).toContain(`node:${devDependencies.node}-slim@`);
  expect(read('.node-version')).toBe(`${devDependencies.node}\n`);
  const images = JOBS.flatMap(([, { container }]) => container?.image ?? []);
  expect(images).toEqual([base.replace('BASE=', '')]);
  expect(devDependencies['@types/node'].split('.')[0]).toBe(devDependencies.node.split('.')[0]);
});

test('the subgraph: package, lock file, manifests and the page for operators', () => {
  const { packages, version: locked } = JSON.parse(read('package-lock.json'));
  expect([locked, packages[''].version]).toEqual([version, version]);
  expect(kustomization.images).toMatchObject([{ newTag: version }]);
  const page = read('deploy/README.md');
  const named = [...page.matchAll(/(?:device-trust-subgraph:|refs\/tags\/v|git tag -s v)(\d[\w.-]*)/g)];
  expect(named.length).toBeGreaterThanOrEqual(5);
  for (const [text, shown] of named) expect([text, shown]).toEqual([text, version]);
});

test('the licence on the image is that of the package', () => {
  expect(instructions('LABEL').join()).toContain(`org.opencontainers.image.licenses="${license}"`);
});

test('rover: the workflows, the page and the test', () => {
  const files = [
    'README.md',
    '.github/workflows/ci.yml',
    '.github/workflows/release.yml',
    'test/supergraph/rover.all.test.ts',
  ];
  const used = files.map((file) => [file, [...new Set(read(file).match(/(?<=@apollo\/rover@)[\d.]+/g))]]);
  const [, expected] = used.at(-1) ?? [];
  expect(expected).toHaveLength(1);
  expect(used).toEqual(files.map((file) => [file, expected]));
});
