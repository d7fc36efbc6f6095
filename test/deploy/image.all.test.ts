import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { ROOT, startCommand, type TestProcess } from '../support/process.ts';
import { programOf } from '../support/programs.ts';
import { post } from '../support/requests.ts';

/** buildah builds the Dockerfile, and what comes out starts as both compose files start it, and as on a node of a cluster. It needs root, and the registry of npm. */

const IMAGE = 'localhost/device-trust-subgraph';
const [TRY_OUT, PRODUCTION] = ['deploy/compose.yaml', 'deploy/vm/compose.yaml'];
const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
const folder = await mkdtemp(join(tmpdir(), 'device-trust-image-'));
const storage = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run'), '--storage-driver'];
const open: { children: TestProcess[]; driver?: string } = { children: [] };
let image: string;

/** Runs a program from the project's folder, and gives what it prints. */
async function run(program: string, ...words: string[]): Promise<string> {
  const { NODE_ENV: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(program, words, { cwd: ROOT, env, maxBuffer: 10_000_000 });
  return stdout.trim();
}
const buildah = (...words: string[]) => run(programOf('buildah'), ...storage, open.driver ?? 'overlay', ...words);

/** Stands for Node's own image: the Node that runs this, its npm, and of this machine what the Dockerfile calls. */
async function buildBase(): Promise<string> {
  const container = await buildah('from', 'scratch');
  const root = await buildah('mount', container);
  const programs = [process.execPath, ...['sh', 'env', 'mkdir', 'chown', 'chmod'].map((name) => `/usr/bin/${name}`)];
  const linked = (await run('ldd', ...programs)).match(/(?<=\s)\/\S+(?= \()/g) ?? [];
  // The parts of glibc that a native package may load beside these.
  const libc = dirname(linked.find((path) => path.includes('/libc.so')) ?? '');
  const libraries = [...linked, ...globSync(join(libc, 'lib{rt,dl,m,pthread,util,resolv,gcc_s,stdc++,nss_dns}.so.?'))];
  const certificates = '/etc/ssl/certs/ca-certificates.crt';
  const files = [...programs.slice(1), ...libraries, certificates];
  await run('cp', '--dereference', '--parents', ...new Set(files), root);
  const local = join(root, 'usr/local');
  await mkdir(join(local, 'bin'), { recursive: true });
  await copyFile(process.execPath, join(local, 'bin/node'));
  const npm = 'lib/node_modules/npm';
  await cp(join(await run('npm', 'root', '--global'), 'npm'), join(local, npm), { recursive: true, dereference: true });
  await symlink(`../${npm}/bin/npm-cli.js`, join(local, 'bin/npm'));
  const registry = await run('npm', 'config', 'get', 'registry');
  await writeFile(join(local, npm, 'npmrc'), `registry=${registry}\ncafile=${certificates}\n`);
  await Promise.all(['bin', 'tmp', 'root'].map((name) => mkdir(join(root, name), { recursive: true })));
  await run('cp', '/usr/bin/sh', join(root, 'bin/sh'));
  await buildah('commit', '--quiet', container, 'localhost/node');
  return 'localhost/node';
}

beforeAll(async () => {
  if (process.getuid?.() !== 0) throw new Error('An image can be built by root alone: run this as root.');
  // Overlay copies nothing, but does not work everywhere, for example not inside a container.
  await buildah('info').catch(() => {
    open.driver = 'vfs';
  });
  const options = ['--build-arg', `BASE=${await buildBase()}`];
  // What npm has downloaded before, it need not download again.
  const cache = `${await run('npm', 'config', 'get', 'cache')}:/root/.npm`;
  // In a chroot RUN needs no namespaces, which a machine of CI may not have.
  const how = ['--isolation', 'chroot', '--volume', cache, '-f', 'deploy/Dockerfile', '-t', IMAGE];
  // A checkout that only its owner can read.
  const context = join(folder, 'context');
  const files = '.dockerignore .npmrc LICENSE package.json package-lock.json tsconfig.json schema src';
  await run('sh', '-c', `umask 077 && mkdir ${context} && cp -r ${files} ${context}`);
  await buildah('build', ...options, ...how, context);
  image = await buildah('mount', await buildah('from', IMAGE));
}, 600_000);

afterAll(async () => {
  await Promise.all(open.children.map((child) => child.stop()));
  await buildah('rm', '--all');
  await rm(folder, { recursive: true });
});

test('the image has the build, what V8 made of it for its user, the schema, the production packages, and nothing else', async () => {
  const app = join(image, 'app');
  expect(await run('find', app, '!', '-user', 'root')).toBe('');
  expect((await readdir(app)).sort()).toEqual(['LICENSE', 'dist', 'node_modules', 'package.json', 'schema']);
  const packages = await readdir(join(app, 'node_modules'));
  expect(packages).toContain('graphql');
  expect(packages).not.toContain('vitest');
  const [cache = '', ...others] = await readdir(join(app, 'dist/compiled'));
  expect([cache, others]).toEqual([expect.stringMatching(new RegExp(`^${process.version}-.*-1000$`)), []]);
});

/** Starts a service of a compose file as its user, where nothing can be written; with some variables of its own. */
async function startService(path: string, name: string, env: Readonly<Record<string, string>>) {
  const { services } = parse(await readFile(join(ROOT, path), 'utf8'));
  const { config } = JSON.parse(await buildah('inspect', '--type', 'image', IMAGE)).OCIv1;
  const { User, WorkingDir, Env, Entrypoint, Cmd, Labels } = config;
  expect(User).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  expect(Labels['org.opencontainers.image.version']).toBe(version);
  // The build holds all that it needs: nothing of the packages can be read.
  const readable = ['/app/dist', '/app/schema', '/app/package.json', '/run/secrets'].map(
    (path) => `--allow-fs-read=${path}`,
  );
  // Not `buildah run`, which passes no signal on.
  const inside = ['chroot', `--userspec=${User}`, image, 'env', `--chdir=${WorkingDir}`];
  const { command = Cmd, environment } = services[name];
  const child = startCommand([...inside, ...Entrypoint, ...command], {
    env: {
      ...Object.fromEntries(Env.map((pair: string) => pair.split(/=(.*)/s))),
      // The strictest file system there is: no write at all, and no other program. Node warns that its flag for the network is new.
      NODE_OPTIONS: ['--disable-warning=ExperimentalWarning', '--permission', '--allow-net', ...readable].join(' '),
      ...environment,
      ...env,
    },
  });
  open.children.push(child);
  return { child, environment };
}

/** Waits until a subgraph is ready, and asks it with and without the router's secret. */
async function expectAnswers(child: TestProcess, secret: string) {
  const [, own] = await child.waitFor(/"url":"http:\/\/\[::\]:(\d+)/);
  const graphqlUrl = `http://127.0.0.1:${own}/graphql`;
  await expect.poll(async () => (await fetch(new URL('/readyz', graphqlUrl))).text()).toBe('ready\n');
  const body = JSON.stringify({ query: FINGERPRINT_QUERY, variables: { token: 'sandbox:android:EMULATOR' } });
  expect(await post(graphqlUrl, body)).toMatchObject({ status: 401 });
  const { data } = await post(graphqlUrl, body, { 'router-authorization': secret });
  expect(data.deviceFingerprint).toMatchObject({ clientType: 'ANDROID' });
}

test('the services of both compose files start where nothing can be written, answer the router alone, and end at SIGTERM', async () => {
  const { child: sandbox } = await startService(TRY_OUT, 'sandbox', { SANDBOX_PORT: '0' });
  const [, port] = await sandbox.waitFor(/GLB: http:\/\/\[::\]:(\d+)/);
  const url = `http://127.0.0.1:${port}`;
  const addresses = { FINGERPRINT_URL_GLB: url, CAPTCHA_URL_GLB: url };
  const env = { PORT: '0', ADMIN_PORT: '0', SHUTDOWN_GRACE_MS: '0', ...addresses };
  const { child, environment } = await startService(TRY_OUT, 'subgraph', env);
  await expectAnswers(child, environment.ROUTER_SECRETS);

  // As compose mounts them.
  const { secrets } = parse(await readFile(join(ROOT, PRODUCTION), 'utf8'));
  await mkdir(join(image, 'run/secrets'), { recursive: true });
  for (const name of Object.keys(secrets)) {
    const value = environment[name.toUpperCase().replaceAll('-', '_')] ?? 'a-key-for-hashes-of-people';
    await writeFile(join(image, 'run/secrets', name), value);
  }
  const { child: production } = await startService(PRODUCTION, 'device-trust', env);
  await expectAnswers(production, environment.ROUTER_SECRETS);

  const children = [child, production, sandbox];
  expect(await Promise.all(children.map((some) => some.end('SIGTERM')))).toEqual([0, 0, 0]);
  expect(children.map((some) => some.stderr())).toEqual(['', '', '']);
});
