import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Placement } from './placement.ts';

/** The processes of a benchmark. None outlives it, whatever way it ends. */

/** The project's folder, in which all of them run. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** More than enough time for a start or an orderly end, in ms. */
const START_MS = 10_000;
const END_MS = 10_000;

/** Exit code or signal; null if it never started. */
type Ending = number | NodeJS.Signals | null;

export interface Child {
  readonly pid: number;
  /** The address that it names in its first line with one. Rejects if it ends without, or after 10 s. */
  readonly url: Promise<string>;
  /** Sends a message and gives the next one that comes back. Rejects if the process ends first. */
  ask(message: object): Promise<unknown>;
  /** Resolves when it is gone, with its exit code or the signal that ended it. */
  readonly ended: Promise<Ending>;
  /** Asks it to end, makes it end after 10 s, and resolves when it is gone. */
  end(): Promise<void>;
  /** Ends it without asking. */
  kill(): void;
}

interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Can be asked by message. */
  readonly answers?: true;
}

export interface Children {
  /** Starts Node with these arguments, with this environment and nothing of ours but PATH. */
  start(core: 'server' | 'others', command: readonly string[], options?: StartOptions): Child;
  endAll(): Promise<void>;
}

/** @param path the PATH on which the children find their programs */
export function createChildren(placement: Placement, path: string): Children {
  const running = new Set<Child>();
  const handles = new Set<ChildProcess>();
  // The last resort, if this process ends in an unexpected way.
  process.once('exit', () => {
    for (const handle of handles) handle.kill('SIGKILL');
  });

  function start(core: 'server' | 'others', command: readonly string[], { env, answers }: StartOptions = {}): Child {
    const [program = '', ...args] = [...placement[core], process.execPath, ...command];
    const handle = spawn(program, args, {
      cwd: ROOT,
      env: { PATH: path, ...env },
      stdio: ['ignore', 'pipe', 'inherit', ...(answers ? (['ipc'] as const) : [])],
    });
    handles.add(handle);
    const ended = new Promise<Ending>((resolve) => {
      const gone = (ending: Ending) => {
        handles.delete(handle);
        running.delete(child);
        resolve(ending);
      };
      handle.once('exit', (code, signal) => gone(code ?? signal)).once('error', () => gone(null));
    });
    const child: Child = {
      pid: handle.pid ?? 0,
      url: addressFrom(handle, ended, command.join(' ')),
      ask: (message) => answerTo(handle, ended, message, command.join(' ')),
      end: async () => {
        const force = setTimeout(() => handle.kill('SIGKILL'), END_MS);
        handle.kill('SIGTERM');
        await ended;
        clearTimeout(force);
      },
      ended,
      kill: () => handle.kill('SIGKILL'),
    };
    // Only those that need the address await it. For the others it is not a failure that there is none.
    child.url.catch(() => {});
    running.add(child);
    return child;
  }

  return {
    start,
    endAll: async () => {
      await Promise.all([...running].map((child) => child.end()));
    },
  };
}

function addressFrom(handle: ChildProcess, ended: Promise<unknown>, name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let written = '';
    const timer = setTimeout(() => reject(new Error(`${name} named no address within ${START_MS} ms`)), START_MS);
    const look = (text: string) => {
      written += text;
      const address = /"url":"(http[^"]+)"/.exec(written)?.[1];
      if (address === undefined) return;
      clearTimeout(timer);
      // From here on its log is read and dropped, so that the pipe never fills up.
      handle.stdout?.off('data', look).resume();
      resolve(address);
    };
    handle.stdout?.setEncoding('utf8').on('data', look);
    ended.then(() => {
      clearTimeout(timer);
      reject(new Error(`${name} ended at its start`));
    });
  });
}

function answerTo(handle: ChildProcess, ended: Promise<unknown>, message: object, name: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    handle.once('message', resolve);
    ended.then(() => reject(new Error(`${name} ended in the middle`)));
    handle.send(message, (error) => error && reject(error));
  });
}
