import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { ROOT, startCommand, type TestProcess } from './process.ts';

/** One of our programs with everything that it starts. */
export interface ProcessGroup extends TestProcess {
  /** Fails if anything of it is left once the system had time to forget what ended. */
  expectNothingLeft(): Promise<void>;
}

/** Starts a script of this project as the leader of a process group. Its `stop` ends the whole group. */
export function startGroup(script: string, ...options: string[]): ProcessGroup {
  const leader = startCommand([process.execPath, script, ...options], { cwd: ROOT, detached: true });
  const signalAll = (signal: NodeJS.Signals | 0): boolean => {
    if (leader.pid === undefined) throw new Error(`${script} did not start`);
    try {
      return process.kill(-leader.pid, signal);
    } catch {
      // Nobody is left to be signalled.
      return false;
    }
  };
  return {
    ...leader,
    expectNothingLeft: async () => {
      for (let tries = 0; signalAll(0) && tries < 250; tries += 1) await sleep(20);
      expect(signalAll(0)).toBe(false);
    },
    stop: async () => {
      signalAll('SIGKILL');
    },
  };
}
