import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { ROOT } from '../support/process.ts';

/** The processes of the benchmark, the cores they run on, and the CPU time that they have used. */

/** More than enough time for a start or an orderly end, in ms. */
const PATIENCE_MS = 30_000;

export interface Child {
  /** For errors. */
  readonly name: string;
  readonly pid: number;
  readonly process: ChildProcess;
  /** The first address that it names. */
  readonly url: URL;
  /** Asks it to end, makes it end after half a minute, and resolves when it is gone. */
  end(): Promise<void>;
}

/** Starts Node with these arguments, and with this environment alone. Rejects unless it soon says where it listens. */
export async function start(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  core: readonly string[] = [],
): Promise<Child> {
  const [program = '', ...rest] = [...core, process.execPath, ...args];
  const { PATH = '' } = process.env;
  const child = spawn(program, rest, { cwd: ROOT, env: { PATH, ...env }, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  // It does not outlive this process, whatever way that ends.
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = new Promise<void>((resolve) => child.once('exit', resolve).once('error', resolve));
  const end = async () => {
    setTimeout(kill, PATIENCE_MS).unref();
    child.kill('SIGTERM');
    await ended;
    process.off('exit', kill);
  };
  const { stdout } = child;
  if (!stdout) throw new Error('expected a pipe');
  const lines = createInterface({ input: stdout, signal: AbortSignal.timeout(PATIENCE_MS) });
  for await (const line of lines) {
    const address = /"url":"(http[^"]+)"/.exec(line)?.[1];
    if (address === undefined || child.pid === undefined) continue;
    // From here on its log is read and dropped, so that the pipe never fills up. Without this the signal would stop that.
    lines.close();
    stdout.resume();
    return { name: rest.at(-1) ?? '', pid: child.pid, process: child, url: new URL(address), end };
  }
  throw new Error(`${args.join(' ')} named no address`);
}

/**
 * Gives the server under test a core of its own: moves this process, and with it whatever it starts, to another one.
 *
 * @returns what to put before the command of a server; nothing on a machine with one core, or without `taskset`
 */
export function chooseCores(): string[] {
  const allowed = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  const [first = '', ...others] = allowed.match(/\d+/g) ?? [];
  const last = others.at(-1);
  if (last === undefined) return [];
  try {
    execFileSync('taskset', ['-acp', first, String(process.pid)], { stdio: 'ignore' });
  } catch {
    return [];
  }
  return ['taskset', '-c', last];
}

/** What a process on Linux has used so far. */
export async function usedBy({ pid, process: child }: Child) {
  const answer = once(child, 'message');
  child.send('allocated');
  const bytes = Number((await answer)[0]);
  const sum = (path: string, number: RegExp) =>
    globSync(`/proc/${pid}/${path}`)
      .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(number)])
      .reduce((total, [, value]) => total + Number(value), 0);
  return {
    /** That V8 has allocated. */
    bytes,
    /** CPU time of all threads in µs. The threads of Node live as long as their process. */
    micros: sum('task/*/schedstat', /^(\d+)/g) / 1_000,
    /** Reads and writes of files and sockets. */
    transfers: sum('io', /^sysc[rw]: (\d+)/gm),
    /** How often its threads have waited for something. */
    wakeUps: sum('task/*/status', /^voluntary_ctxt_switches:\s*(\d+)/gm),
  };
}
