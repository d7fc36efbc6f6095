import { chmod, lstat, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SANDBOX_APPLICATIONS, SANDBOX_CAPTCHAS } from '../../src/sandbox/accounts.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { FINGERPRINT_QUERY } from '../support/graphql.ts';
import { startCommand, type TestProcess } from '../support/process.ts';
import { post } from '../support/requests.ts';
import { DOCKERFILE, stagesOf } from './dockerfile.ts';
import { asUser, BIN, buildImage, type Image } from './image.ts';

/** What the Dockerfile makes works. It needs the package registry and half a minute: `npm run test:image`. */

const ROUTER_SECRET = 'a-secret-of-the-router';

/** Bytes of all files below a folder. */
async function bytesIn(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(files.map(async (file) => (await lstat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

describe.runIf(process.env['WITH_IMAGE'])('the image', () => {
  let image: Image;
  let app: string;
  let secrets: string;
  let sandbox: Sandbox;
  let child: TestProcess | undefined;

  beforeAll(async () => {
    sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
    secrets = await mkdtemp(join(tmpdir(), 'device-trust-secrets-'));
    image = await buildImage(stagesOf(DOCKERFILE));
    app = join(image.root, image.workdir);
  }, 300_000);
  afterAll(async () => {
    await child?.stop();
    await sandbox.stop();
    await rm(secrets, { recursive: true });
    await image?.remove();
  });

  test('has the build, the schema and the production dependencies, and nothing else', async () => {
    expect((await readdir(app)).sort()).toEqual(['dist', 'node_modules', 'package.json', 'schema']);
    const packages = await readdir(join(app, 'node_modules'));
    expect(packages).toContain('graphql');
    for (const name of ['typescript', 'vitest', 'node']) expect(packages).not.toContain(name);
  });

  test('has what V8 made of the build, for its user to find', async () => {
    const [user = ''] = image.user.split(':');
    const caches = await readdir(join(app, 'dist/compiled'));
    expect(caches).toEqual([expect.stringMatching(new RegExp(`^v24\\..*-${user}$`))]);
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
    const files = {
      FINGERPRINT_APPLICATIONS_FILE: JSON.stringify(SANDBOX_APPLICATIONS.slice(0, 1)),
      CAPTCHA_CONFIGURATIONS_FILE: JSON.stringify(SANDBOX_CAPTCHAS.slice(0, 1)),
      ROUTER_SECRETS_FILE: ROUTER_SECRET,
    };
    await chmod(secrets, 0o755);
    for (const [name, text] of Object.entries(files)) await writeFile(join(secrets, name), text);
    await image.makeReadOnly();
    // The build holds all that it needs: nothing of the packages can be read.
    const readable = ['dist', 'schema', 'package.json'].map((name) => join(app, name));
    const allowed = [...readable, secrets].map((path) => ` --allow-fs-read=${path}`).join('');
    child = startCommand(image.command, {
      cwd: app,
      env: {
        ...image.env,
        PATH: join(image.root, BIN),
        // The strictest root file system there is: no write at all, and no other program.
        NODE_OPTIONS: `--permission${allowed}`,
        PORT: '0',
        SHUTDOWN_GRACE_MS: '0',
        FINGERPRINT_URL_GLB: sandbox.urls.GLB,
        CAPTCHA_URL_GLB: sandbox.urls.GLB,
        ...Object.fromEntries(Object.keys(files).map((name) => [name, join(secrets, name)])),
      },
      ...asUser(image.user),
    });
    const [, graphqlUrl = ''] = await child.waitFor(/"url":"([^"]+)"/);
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
