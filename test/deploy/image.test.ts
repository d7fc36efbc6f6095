import { lstat, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { startCommand, type TestProcess } from '../support/process.ts';
import { post } from '../support/requests.ts';
import { buildImage, CAN_BUILD, type Image, WHY_NO_IMAGE } from './image.ts';

/** What the Dockerfile makes works. It is built for two minutes, and needs Debian's mirror and npm's: `npm run test:image`. */

const ROUTER_SECRET = 'a-secret-of-the-router';

/** Bytes of all files below a folder. */
async function bytesIn(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(files.map(async (file) => (await lstat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

if (process.env['WITH_IMAGE'] && !CAN_BUILD) process.stderr.write(`The image${WHY_NO_IMAGE}\n`);

describe.runIf(process.env['WITH_IMAGE'] && CAN_BUILD)(`the image${WHY_NO_IMAGE}`, () => {
  let image: Image;
  let app: string;
  let sandbox: Sandbox;
  let child: TestProcess | undefined;

  beforeAll(async () => {
    sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
    image = await buildImage({ VERSION: '9.8.7', REVISION: 'a-commit', SOURCE: 'https://git.example/device-trust' });
    app = join(image.root, 'app');
  }, 600_000);
  afterAll(async () => {
    await child?.stop();
    await sandbox.stop();
    await image?.remove();
  });

  test('is Node itself, not root, in production mode, with the names of its release', () => {
    expect(image.config).toMatchObject({
      User: expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/),
      WorkingDir: '/app',
      ExposedPorts: { '4001/tcp': {}, '9464/tcp': {} },
      Env: expect.arrayContaining(['NODE_ENV=production', 'NODE_COMPILE_CACHE=dist/compiled']),
      Entrypoint: ['node'],
      Cmd: ['dist/server/main.js'],
      Labels: {
        'org.opencontainers.image.title': 'device-trust-subgraph',
        'org.opencontainers.image.version': '9.8.7',
        'org.opencontainers.image.revision': 'a-commit',
        'org.opencontainers.image.source': 'https://git.example/device-trust',
        'org.opencontainers.image.licenses': 'MIT',
      },
    });
  });

  test('has the build, the schema and the production dependencies, and nothing else', async () => {
    expect((await readdir(app)).sort()).toEqual(['dist', 'node_modules', 'package.json', 'schema']);
    const packages = await readdir(join(app, 'node_modules'));
    expect(packages).toContain('graphql');
    for (const name of ['typescript', 'vitest', 'node']) expect(packages).not.toContain(name);
  });

  test('has what V8 made of the build, for its user to find', async () => {
    const [user = ''] = image.config.User.split(':');
    const caches = await readdir(join(app, 'dist/compiled'));
    expect(caches).toEqual([expect.stringMatching(new RegExp(`^${process.version}-.*-${user}$`))]);
    const files = await readdir(join(app, 'dist/compiled', ...caches));
    const modes = await Promise.all(
      files.map(async (file) => (await lstat(join(app, 'dist/compiled', ...caches, file))).mode),
    );
    for (const mode of modes) expect(mode & 0o444).toBe(0o444);
    expect((await bytesIn(join(app, 'dist/compiled'))) / 1e6).toBeGreaterThan(1);
  });

  test('is small', async () => {
    const packages = (await bytesIn(join(app, 'node_modules'))) / 1e6;
    const layer = (await bytesIn(app)) / 1e6;
    process.stdout.write(`Production node_modules: ${packages.toFixed(1)} MB. All of ours: ${layer.toFixed(1)} MB.\n`);
    expect(layer).toBeLessThan(70);
  });

  test('starts as its user where nothing can be written, answers, and ends at SIGTERM', async () => {
    const { User, WorkingDir, Env, Entrypoint, Cmd } = image.config;
    const secrets = {
      FINGERPRINT_APPLICATIONS: JSON.stringify(SANDBOX_APPLICATIONS.slice(0, 1)),
      CAPTCHA_CONFIGURATIONS: JSON.stringify(SANDBOX_CAPTCHAS.slice(0, 1)),
      ROUTER_SECRETS: ROUTER_SECRET,
    };
    await mkdir(join(image.root, 'run/secrets'));
    for (const [name, text] of Object.entries(secrets)) await writeFile(join(image.root, 'run/secrets', name), text);
    // The build holds all that it needs: nothing of the packages can be read.
    const readable = ['/app/dist', '/app/schema', '/app/package.json', '/run/secrets'];
    // Not `buildah run`, which passes no signal on.
    const inside = ['chroot', `--userspec=${User}`, image.root, 'env', `--chdir=${WorkingDir}`];
    child = startCommand([...inside, ...Entrypoint, ...Cmd], {
      env: {
        ...Object.fromEntries(Env.map((pair) => pair.split(/=(.*)/s))),
        // The strictest root file system there is: no write at all, and no other program. Node warns that its flag for the
        // network is new.
        NODE_OPTIONS: `--disable-warning=ExperimentalWarning --permission --allow-net${readable.map((path) => ` --allow-fs-read=${path}`).join('')}`,
        PORT: '0',
        ADMIN_PORT: '0',
        SHUTDOWN_GRACE_MS: '0',
        FINGERPRINT_URL_GLB: sandbox.urls.GLB,
        CAPTCHA_URL_GLB: sandbox.urls.GLB,
        ...Object.fromEntries(Object.keys(secrets).map((name) => [`${name}_FILE`, `/run/secrets/${name}`])),
      },
    });
    const [, graphqlUrl = ''] = await child.waitFor(/"url":"([^"]+)"/);
    expect(await (await fetch(new URL('/healthz', graphqlUrl))).text()).toBe('alive\n');
    expect(await (await fetch(new URL('/readyz', graphqlUrl))).text()).toBe('ready\n');

    const body = JSON.stringify({ query: FINGERPRINT_QUERY, variables: { token: 'sandbox:android:EMULATOR' } });
    expect(await post(graphqlUrl, body)).toMatchObject({ status: 401 });
    const { data, errors } = await post(graphqlUrl, body, { 'router-authorization': ROUTER_SECRET });
    expect(errors).toBeUndefined();
    expect(data.deviceFingerprint).toMatchObject({ clientType: 'ANDROID', signals: [{ code: 'EMULATOR' }] });

    expect(await child.end('SIGTERM')).toBe(0);
    expect(child.stderr()).toBe('');
  }, 60_000);
});
