import type { Writable } from 'node:stream';
import { isoTime } from './log-time.ts';

/**
 * Characters that are worth a write, and how long fewer of them may wait, in ms. A pipe holds 64 KiB, and what does not fit
 * into it waits in memory until somebody reads.
 */
const FULL = 16 * 1024;
const FLUSH_EVERY_MS = 100;

/** How much may wait for a reader, in bytes. */
const MAX_WAITING = 1024 * 1024;

/**
 * Writes the lines of a log together, for one by one they would be a good part of what an operation costs. After a quiet time
 * the first goes out at once, and what is left goes out when the process ends. While nobody reads, lines are dropped and
 * counted; once nobody can read any more, the log goes on at the other stream: neither is a reason to stop serving.
 */
export function bufferLines(stream: Writable, otherStream: Writable): { write(line: string): void } {
  let out = stream;
  let lines: string[] = [];
  let characters = 0;
  let dropped = 0;
  let wasQuiet = true;
  const flush = () => {
    if (out.writableLength > MAX_WAITING) {
      dropped += lines.length;
    } else if (lines.length > 0 || dropped > 0) {
      out.write((dropped > 0 ? lineAbout(dropped) : '') + lines.join(''));
      dropped = 0;
    }
    wasQuiet = lines.length === 0;
    lines = [];
    characters = 0;
  };
  setInterval(flush, FLUSH_EVERY_MS).unref();
  process.on('exit', flush);
  stream.on('error', () => {
    out = otherStream;
  });
  return {
    write: (line) => {
      lines.push(line);
      characters += line.length;
      if (wasQuiet || characters > FULL) flush();
    },
  };
}

function lineAbout(dropped: number): string {
  return `{"level":"warn"${isoTime()},"dropped":${dropped},"msg":"lines were dropped, because nobody read the log"}\n`;
}
