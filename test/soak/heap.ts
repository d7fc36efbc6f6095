import { collectGarbage } from '../support/garbage.ts';

/** Loaded into a server with `--import`: answers each message with the bytes that are in use once all garbage is collected. */

process.on('message', () => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.(heapUsed + external);
});
process.channel?.unref();
