import { execFile } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../support/process.ts';
import type { Stage, Step } from './dockerfile.ts';

/** What a Dockerfile makes, in a folder that stands for the root of its file system. Whoever builds one removes it. */
export interface Image {
  readonly root: string;
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  /** Entry point and its arguments. */
  readonly command: readonly string[];
  /** Takes the right to write from every file and folder. */
  makeReadOnly(): Promise<void>;
  remove(): Promise<void>;
}

const run = promisify(execFile);
/** Where the official images have their Node. */
export const BIN = 'usr/local/bin';
const AS_IT_IS = { recursive: true, verbatimSymlinks: true };

/** A stage while it is built. */
interface Draft {
  readonly root: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  entrypoint: readonly string[];
  cmd: readonly string[];
}

/**
 * Runs the steps of a Dockerfile themselves, each as the user that it names. A base image has a Node, the one that runs this, and
 * nothing else; RUN finds the other programs on this machine.
 */
export async function buildImage(stages: readonly Stage[]): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), 'device-trust-image-'));
  // The way there is open to any user; the files have the modes that the steps gave them.
  await chmod(folder, 0o755);
  const remove = async () => {
    await run('chmod', ['-R', 'u+w', folder]);
    await rm(folder, { recursive: true });
  };
  try {
    const named: Record<string, Draft> = {};
    let last = await begin(join(folder, 'scratch'), undefined);
    for (const [index, { name, from, steps }] of stages.entries()) {
      last = await begin(join(folder, `${index}`), named[from]);
      for (const step of steps) await take(step, last, named);
      if (name) named[name] = last;
    }
    const { root } = last;
    return {
      ...last,
      command: [...last.entrypoint, ...last.cmd],
      makeReadOnly: async () => void (await run('chmod', ['-R', 'a-w', root])),
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function begin(root: string, base: Draft | undefined): Promise<Draft> {
  await mkdir(root);
  if (!base) {
    await mkdir(join(root, BIN), { recursive: true });
    await copyFile(process.execPath, join(root, BIN, 'node'));
    return { root, workdir: '/', env: {}, user: '', entrypoint: [], cmd: [] };
  }
  await cp(base.root, root, AS_IT_IS);
  return { ...base, root };
}

async function take(step: Step, draft: Draft, others: Readonly<Record<string, Draft>>): Promise<void> {
  switch (step.kind) {
    case 'workdir':
      draft.workdir = resolve(draft.workdir, step.path);
      await mkdir(join(draft.root, draft.workdir), { recursive: true });
      return;
    case 'copy':
      return copy(step, draft, others);
    case 'run':
      await run('sh', ['-c', step.command], {
        cwd: join(draft.root, draft.workdir),
        env: { ...machine(draft.root), ...draft.env },
        ...asUser(draft.user),
        timeout: 300_000,
        maxBuffer: 10_000_000,
      });
      return;
    case 'env':
      draft.env = { ...draft.env, ...step.env };
      return;
    case 'user':
      draft.user = step.user;
      return;
    case 'entrypoint':
      draft.entrypoint = step.words;
      return;
    case 'cmd':
      draft.cmd = step.words;
  }
}

async function copy(
  { from, sources, to }: Extract<Step, { kind: 'copy' }>,
  draft: Draft,
  others: Readonly<Record<string, Draft>>,
): Promise<void> {
  const allowed = await contextPaths();
  for (const source of sources) {
    const root = from === undefined ? ROOT : others[from]?.root;
    if (root === undefined) throw new Error(`There is no stage ${from}.`);
    if (from === undefined && !allowed.includes(source)) throw new Error(`.dockerignore leaves ${source} out.`);
    const path = join(root, source);
    const target = join(draft.root, resolve(draft.workdir, to));
    // As docker does: of a folder its contents; a file goes into what ends with a slash.
    const goesInto = to.endsWith('/') && (await stat(path)).isFile();
    await cp(path, goesInto ? join(target, basename(path)) : target, AS_IT_IS);
  }
}

/** What `.dockerignore` lets through: it begins by leaving out everything. */
export async function contextPaths(): Promise<string[]> {
  const lines = (await readFile(join(ROOT, '.dockerignore'), 'utf8')).split('\n');
  const [first, ...rest] = lines.filter((line) => line && !line.startsWith('#'));
  if (first !== '*' || !rest.every((line) => line.startsWith('!'))) throw new Error('.dockerignore is no list.');
  return rest.map((line) => line.slice(1));
}

/** RUN has this machine's programs and its access to the package registry, but not the environment of the tests. */
function machine(root: string): NodeJS.ProcessEnv {
  const { NODE_ENV: _, ...env } = process.env;
  return { ...env, PATH: `${join(root, BIN)}:${env['PATH']}` };
}

/** Options for a process of the image's user. Only root can become another user, and any other user is not root already. */
export function asUser(user: string): { uid?: number; gid?: number } {
  const [uid, gid] = user.split(':').map(Number);
  return process.getuid?.() === 0 && uid && gid ? { uid, gid } : {};
}
