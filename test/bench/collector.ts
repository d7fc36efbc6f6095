import { once } from 'node:events';
import { request } from '../support/requests.ts';

/** Collects the garbage of another process, so that what is left of its heap is what it holds on to. */
export interface Collector {
  /** Resolves when all of it is collected. Rejects after 10 s. */
  collect(): Promise<void>;
  close(): Promise<void>;
}

const PATIENCE_MS = 10_000;

/** @param port where the process listens as `--inspect` */
export async function openCollector(port: number): Promise<Collector> {
  const [target] = JSON.parse((await request(`http://127.0.0.1:${port}/json/list`)).text);
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  const signal = () => AbortSignal.timeout(PATIENCE_MS);
  await once(socket, 'open', { signal: signal() });
  return {
    collect: async () => {
      const answer = once(socket, 'message', { signal: signal() });
      socket.send('{"id":1,"method":"HeapProfiler.collectGarbage"}');
      await answer;
    },
    close: async () => {
      const closed = once(socket, 'close', { signal: signal() });
      socket.close();
      await closed;
    },
  };
}
