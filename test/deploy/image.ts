import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../support/process.ts';

/** The image as buildah builds it from the Dockerfile, on a base that stands for Node's own image. */

const TOOLS = ['buildah', 'debootstrap'];
const HAS_TOOLS = process.getuid?.() === 0 && TOOLS.every(isInstalled);

const MISSING = `an image needs root, and ${TOOLS.join(' and ')} of Debian`;

/** Can an image be built here? With `REQUIRE_BUILDAH` set, as in CI, the tests fail where it cannot. */
export const CAN_BUILD = HAS_TOOLS || process.env['REQUIRE_BUILDAH'] !== undefined;

/** Ends the title of a suite that is skipped. */
export const WHY_NO_IMAGE = CAN_BUILD ? '' : ` (skipped: ${MISSING})`;

/** An image whose file system is a folder of this machine. Whoever builds one removes it. */
export interface Image {
  /** The folder that is the root of its file system. */
  readonly root: string;
  readonly config: ImageConfig;
  remove(): Promise<void>;
}

/** The part of OCI's image configuration that the tests compare. */
export interface ImageConfig {
  readonly User: string;
  readonly WorkingDir: string;
  readonly ExposedPorts: Readonly<Record<string, object>>;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
}

/** Builds `deploy/Dockerfile` with these build arguments. Downloads Debian's minimal system and the npm packages. */
export async function buildImage(args: Readonly<Record<string, string>>): Promise<Image> {
  if (!HAS_TOOLS) throw new Error(`Cannot build it: ${MISSING}.`);
  const folder = await mkdtemp(join(tmpdir(), 'device-trust-image-'));
  const storage = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run'), '--storage-driver'];
  // Overlay copies nothing, but does not work everywhere, for example not inside a container.
  const driver = await command('buildah', [...storage, 'overlay', 'info']).then(
    () => 'overlay',
    () => 'vfs',
  );
  const buildah = (...words: string[]) => command('buildah', [...storage, driver, ...words]);
  const remove = async () => {
    await buildah('rm', '--all');
    await rm(folder, { recursive: true });
  };
  try {
    const base = await buildBase(buildah);
    const image = 'localhost/device-trust-subgraph';
    const options = Object.entries({ BASE: base, ...args }).flatMap(([name, value]) => [
      '--build-arg',
      `${name}=${value}`,
    ]);
    // In a chroot RUN needs no namespaces, which a machine of CI may not have.
    await buildah('build', '--isolation', 'chroot', ...options, '-f', 'deploy/Dockerfile', '-t', image, ROOT);
    const root = await buildah('mount', await buildah('from', image));
    const config: ImageConfig = JSON.parse(await buildah('inspect', '--type', 'image', image)).OCIv1.config;
    return { root, config, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Debian's minimal system with the Node that runs this, its npm, and the certificate authorities of this machine. */
async function buildBase(buildah: (...words: string[]) => Promise<string>): Promise<string> {
  const container = await buildah('from', 'scratch');
  const root = await buildah('mount', container);
  const [, suite = ''] = /^VERSION_CODENAME=(\w+)$/m.exec(await readFile('/etc/os-release', 'utf8')) ?? [];
  // From where this machine has its own packages.
  const [mirror = ''] = (
    await command('apt-get', ['indextargets', '--format', '$(REPO_URI)', `Codename: ${suite}`])
  ).split('\n');
  // Node's own image has the libraries that this Node needs, too.
  await command('debootstrap', ['--variant=minbase', '--include=libatomic1', suite, root, mirror]);
  // What only Debian's package manager and people need.
  for (const unused of ['usr/share', 'var/cache', 'var/lib']) await rm(join(root, unused), { recursive: true });
  const local = join(root, 'usr/local');
  await command('npm', ['install', '--global', '--prefix', local, `npm@${await command('npm', ['--version'])}`]);
  await copyFile(process.execPath, join(local, 'bin/node'));
  await copyFile('/etc/ssl/certs/ca-certificates.crt', join(local, 'lib/ca-certificates.crt'));
  const registry = await command('npm', ['config', 'get', 'registry']);
  const settings = `registry=${registry}\ncafile=/usr/local/lib/ca-certificates.crt\n`;
  await writeFile(join(local, 'lib/node_modules/npm/npmrc'), settings);
  const base = 'localhost/node';
  await buildah('commit', '--quiet', container, base);
  return base;
}

/** Runs a program from the project's folder, and gives what it prints. */
async function command(program: string, words: readonly string[]): Promise<string> {
  const { NODE_ENV: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(program, words, { cwd: ROOT, env, maxBuffer: 10_000_000 });
  return stdout.trim();
}

function isInstalled(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, program)));
}
