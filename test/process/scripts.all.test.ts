import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROOT, startCommand } from '../support/process.ts';
import { LIVE } from './environments.ts';

/** `npm start` in a copy of the project, by each runner of scripts. */

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scripts-'));
  for (const name of ['package.json', 'tsconfig.json', 'schema', 'src'])
    await cp(join(ROOT, name), join(folder, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(() => rm(folder, { recursive: true }));

const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;

function startIn(cwd: string, command: readonly string[], env = {}) {
  return startCommand(command, { cwd, env: { PATH, ...env }, detached: true });
}

test.for([
  ['npm start', ['npm', 'start']],
  ['npm start with ignore-scripts=true', ['npm', '--ignore-scripts=true', 'start']],
  ['node --run start', [process.execPath, '--run', 'start']],
] as const)('%s builds the sources, although an old build is there', async ([, command], { onTestFinished }) => {
  await mkdir(join(folder, 'dist/server'), { recursive: true });
  await writeFile(join(folder, 'dist/server/main.js'), 'console.log("the old build");\n');
  const child = startIn(folder, command, { ...LIVE, ADMIN_PORT: '0' });
  // Node passes no signal on to its script, so the whole group gets it.
  const stop = async () => {
    if (child.pid) process.kill(-child.pid, 'SIGTERM');
    await child.ended;
  };
  await child.waitFor(/"msg":"ready"/).finally(() => onTestFinished(stop));
  expect(child.stdout()).not.toContain('the old build');
});

test('npm start without variables says which are missing, and that npm run dev needs none', async () => {
  const child = startIn(folder, ['npm', 'start']);
  expect(await child.ended).toBe(1);
  expect(child.stderr()).toBe(
    'Invalid configuration:\n' +
      '  FINGERPRINT_APPLICATIONS: expected it or CAPTCHA_CONFIGURATIONS, but got neither (npm run dev needs no variables).\n' +
      '  ROUTER_SECRETS: expected either secrets here or in SERVICES, or ALLOW_DIRECT_ACCESS=true, but got neither.\n',
  );
});

test('npm start without the development dependencies says how to get them', async ({ onTestFinished }) => {
  // npm looks for programs in the folders above, too.
  const production = await mkdtemp(join(tmpdir(), 'production-'));
  onTestFinished(() => rm(production, { recursive: true }));
  await cp(join(folder, 'package.json'), join(production, 'package.json'));
  await mkdir(join(production, 'src'));
  const path = PATH.split(':').filter((entry) => !entry.includes('node_modules'));
  const child = startCommand(['npm', 'start'], { cwd: production, env: { PATH: path.join(':') } });
  expect(await child.ended).toBe(1);
  expect(child.stderr()).toBe('A build needs the development dependencies: run npm ci --include=dev.\n');
});

test('npm start runs the build of an archive, which has no sources', async () => {
  const archive = await mkdtemp(join(folder, 'archive-'));
  await cp(join(folder, 'package.json'), join(archive, 'package.json'));
  await mkdir(join(archive, 'dist/server'), { recursive: true });
  await writeFile(join(archive, 'dist/server/main.js'), 'console.log("the build of the archive");\n');
  const child = startIn(archive, ['npm', 'start']);
  expect(await child.ended).toBe(0);
  expect(child.stdout()).toContain('the build of the archive');
});

test('npm test reaches its own machine behind a proxy that does not know it', async () => {
  // Nobody listens on port 9.
  const proxies = { http_proxy: 'http://127.0.0.1:9', HTTP_PROXY: 'http://127.0.0.1:9', NODE_USE_ENV_PROXY: '1' };
  const child = startIn(ROOT, ['npm', 'test', '--', 'test/server/health.test.ts'], { ...proxies, NO_COLOR: '1' });
  expect([await child.ended, child.stdout()]).toEqual([0, expect.stringMatching(/Tests +2 passed/)]);
});
