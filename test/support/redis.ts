import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './ports.ts';
import { startCommand, type TestProcess } from './process.ts';
import { programOf } from './programs.ts';

/** A real Redis or Valkey on a free port of loopback that keeps nothing on disk. Whoever starts one stops it. */
export async function startRedis(more: Readonly<Record<string, string>> = {}) {
  const password = 'a-password';
  const executable = programOf('redis-server');
  const folder = await mkdtemp(join(tmpdir(), 'device-trust-redis-'));
  const port = await freePort();
  let server: TestProcess | undefined;

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
    server = startCommand([executable, ...args], { env: { LD_LIBRARY_PATH: libraries.join(':') } });
    await server.waitFor(/Ready to accept connections/);
  }

  /** Ends it at once, as a crash does. */
  const kill = async () => server?.stop();

  await start();
  return {
    url: `redis://:${password}@127.0.0.1:${port}`,
    start,
    kill,
    /** It keeps its connections, but answers nothing until it is resumed. */
    pause: () => server?.signal('SIGSTOP'),
    resume: () => server?.signal('SIGCONT'),
    stop: async () => {
      await kill();
      await rm(folder, { recursive: true });
    },
  };
}
