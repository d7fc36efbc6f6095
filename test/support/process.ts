import { type ChildProcess, execFile, type SpawnOptions, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The project's folder. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** One of our programs: its sources, or what `npm run build` makes of them. */
export const scriptOf = (name: string) => (process.env['WITH_BUILD'] ? `dist/server/${name}.js` : `src/${name}.ts`);
export const MAIN = scriptOf('main');

/** A program that was started before starts in two thirds of the time. */
export const COMPILED = { NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/node') };

/** Other tests make a process late for no fault of its own, and what is refused for that (503) leaves no log line. In sandbox mode it may be late by 10 s. */
export const PATIENT = { TEST_MAX_DELAY_MS: '10000' };

/** Nothing here takes as long as this, in ms, however busy the machine is. */
const LIMIT_MS = 60_000;

/** One of our programs as a process of its own. Whoever starts one stops it. */
export interface TestProcess {
  /** Undefined if there is no such program. */
  readonly pid: number | undefined;
  /** Everything written so far. */
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
  /** The first match in stdout, as soon as it is there. Rejects if the process ends without it, or after a minute. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends a signal. */
  signal(signal: NodeJS.Signals): void;
  /** Asks it to end, and gives what `ended` gives. */
  end(signal: NodeJS.Signals): TestProcess['ended'];
  /** Makes sure that it is gone. */
  stop(): Promise<void>;
}

/**
 * Starts a script of this project, by its path from the root, with this environment and little else; metrics on a free port.
 */
export function startProcess(script: string, env: Readonly<Record<string, string>> = {}): TestProcess {
  const { PATH = '' } = process.env;
  return startCommand([process.execPath, script], {
    cwd: ROOT,
    env: { PATH, ADMIN_PORT: '0', ...COMPILED, ...env },
  });
}

/** Starts any program; `options` says where, with which environment and as whom. */
export function startCommand([program = '', ...words]: readonly string[], options: SpawnOptions): TestProcess {
  const child: ChildProcess = spawn(program, words, { ...options, stdio: 'pipe' });
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      written[name] += text;
    });
  }
  // 'close' comes after the last byte of both streams; 'error' if there is no such program.
  const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => resolve(code ?? signal));
  });
  const stdout = () => written.stdout;
  const stderr = () => written.stderr;

  function waitFor(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`${why} without ${pattern}\n${stdout()}\n${stderr()}`));
      const timer = setTimeout(() => fail(`${LIMIT_MS / 1_000} s went by`), LIMIT_MS);
      const look = () => {
        const match = pattern.exec(stdout());
        if (match) resolve(match);
        return match;
      };
      child.stdout?.on('data', look);
      ended.then((code) => look() || fail(`ended with ${code}`), reject).finally(() => clearTimeout(timer));
      if (look()) clearTimeout(timer);
    });
  }

  const end = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return {
    pid: child.pid,
    stdout,
    stderr,
    ended,
    waitFor,
    signal: (signal) => void child.kill(signal),
    end,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) await end('SIGKILL');
    },
  };
}

/**
 * Runs a command as a person would paste it, with a proxy that knows nothing of this machine, and gives what it prints. Rejects
 * if it fails or takes more than a minute.
 */
export async function shell(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-o', 'pipefail', '-c', command], {
    cwd: ROOT,
    // Bash warns of a locale that the machine lacks. Nobody listens on port 9.
    env: { ...process.env, ...COMPILED, LC_ALL: 'C', http_proxy: 'http://127.0.0.1:9', NO_PROXY: '', no_proxy: '' },
    timeout: LIMIT_MS,
  });
  return stdout;
}
