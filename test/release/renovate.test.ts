import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { ROOT } from '../support/process.ts';

/** Renovate's configuration. Its schema is in its package, which `npm run test:release` downloads and does not install. */

const RENOVATE = 'renovate@44.121.2';
const text = readFileSync(join(ROOT, '.github/renovate.json'), 'utf8');
const config = JSON.parse(text);
const run = promisify(execFile);

test.runIf(process.env['WITH_RENOVATE'])(
  "it fits Renovate's own schema",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'device-trust-renovate-'));
    await run('npm', ['pack', '--silent', RENOVATE], { cwd: folder });
    await run('sh', ['-c', 'tar -xzf *.tgz package/renovate-schema.json'], { cwd: folder });
    const schema = JSON.parse(await readFile(join(folder, 'package/renovate-schema.json'), 'utf8'));
    await rm(folder, { recursive: true });
    const validate = new Ajv({ strict: false, allErrors: true, logger: false }).compile(schema);
    validate(config);
    expect(validate.errors).toBeNull();
    expect(validate({ ...config, customManagers: 'regex' })).toBe(false);
    // It lets unknown options pass, so their names are compared here.
    const known = Object.keys({ $schema: '', ...schema.properties, ...schema.definitions });
    const options = [config, ...config.packageRules, ...config.customManagers].flatMap((part) => Object.keys(part));
    expect(options.filter((option) => !known.includes(option))).toEqual([]);
  },
  120_000,
);

test('each tool that npx brings is found in each file that names its version', () => {
  const [{ managerFilePatterns, matchStrings }] = config.customManagers;
  const patterns = managerFilePatterns.map((pattern: string) => new RegExp(pattern.slice(1, -1)));
  const found = (file: string) => [
    ...readFileSync(join(ROOT, file), 'utf8').matchAll(new RegExp(matchStrings[0], 'g')),
  ];
  const files = ['README.md', ...globSync(['.github/**/*.yml', 'test/**/*.ts'], { cwd: ROOT })];
  const named = files.filter((file) => found(file).length > 0);
  expect(named).toHaveLength(5);
  for (const file of named)
    expect([file, patterns.some((pattern: RegExp) => pattern.test(file))]).toEqual([file, true]);
  expect(found('test/release/renovate.test.ts')[0]?.groups).toEqual({
    depName: 'renovate',
    currentValue: RENOVATE.split('@')[1],
  });
});

test('each rule about a package names one that is there', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const names = [
    ...Object.keys({ ...dependencies, ...devDependencies }),
    'device-trust-subgraph',
    'actions/node-versions',
  ];
  const rules: { matchPackageNames?: string[] }[] = config.packageRules;
  for (const pattern of rules.flatMap(({ matchPackageNames = [] }) => matchPackageNames)) {
    const start = pattern.replace(/^!|\*\*$/g, '');
    expect([pattern, names.some((name) => (pattern.endsWith('**') ? name.startsWith(start) : name === start))]).toEqual(
      [pattern, true],
    );
  }
});
