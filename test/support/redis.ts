import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from './ports.ts';
import { programOf } from './programs.ts';

/** A real Redis or Valkey on a free port of loopback that keeps nothing on disk. Whoever starts one stops it. */
export async function startRedis(more: Readonly<Record<string, string>> = {}) {
  const password = 'a-password';
  const executable = programOf('redis-server');
  const folder = await mkdtemp(join(tmpdir(), 'device-trust-redis-'));
  const port = await freePort();
  let server: ReturnType<typeof spawn> | undefined;

  /** Starts it on its port, without any data. */
  async function start(): Promise<void> {
    const options = {
      port,
      bind: '127.0.0.1',
      requirepass: password,
      save: '',
      appendonly: 'no',
      dir: folder,
      ...more,
    };
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    // Where the packages are only unpacked, their libraries are beside the executable.
    const libraries = globSync(join(executable, '../../lib/*-linux-gnu'));
    const child = spawn(executable, args, { env: { LD_LIBRARY_PATH: libraries.join(':') } });
    server = child;
    const lines: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => lines.push(line));
    }
    const ended = once(child, 'exit').then(() => {
      throw new Error(`expected a running server, but got: ${lines.join('\n')}`);
    });
    const ready = new Promise<void>((resolve) => {
      createInterface(child.stdout).on('line', (line) => {
        if (line.includes('Ready to accept connections')) resolve();
      });
    });
    await Promise.race([ready, ended]);
    ended.catch(() => {});
  }

  /** Ends it at once, as a crash does. */
  async function kill(): Promise<void> {
    const child = server;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  await start();
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    start,
    kill,
    /** It keeps its connections, but answers nothing until it is resumed. */
    pause: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true });
    },
  };
}
