import type { Writable } from 'node:stream';
import { stdTimeFunctions } from 'pino';

/**
 * The buffer is written when it holds this many characters, or after this many ms. A pipe holds 64 KiB; what does not fit
 * into it waits in this process's memory until the other end reads.
 */
const MAX_BUFFERED_CHARACTERS = 16 * 1024;
const FLUSH_INTERVAL_MS = 100;

/** When this many bytes already wait for the stream, further lines are dropped. */
const MAX_PENDING_BYTES = 1024 * 1024;

/**
 * Writes log lines in batches, because one write for each line would be a good part of what an operation costs. The first
 * line after a quiet interval is written at once, and the rest of the buffer when the process exits.
 *
 * A log that cannot be written is no reason to stop serving. While nothing reads the stream, lines are dropped, and a warning
 * says how many. When the stream fails, the log continues on `fallback`.
 */
export function bufferLines(stream: Writable, fallback: Writable): { write(line: string): void } {
  let target = stream;
  let lines: string[] = [];
  let characters = 0;
  let dropped = 0;
  let wasQuiet = true;
  const flush = () => {
    if (target.writableLength > MAX_PENDING_BYTES) {
      dropped += lines.length;
    } else if (lines.length > 0 || dropped > 0) {
      target.write((dropped > 0 ? dropWarning(dropped) : '') + lines.join(''));
      dropped = 0;
    }
    wasQuiet = lines.length === 0;
    lines = [];
    characters = 0;
  };
  setInterval(flush, FLUSH_INTERVAL_MS).unref();
  process.on('exit', flush);
  stream.on('error', () => {
    target = fallback;
  });
  return {
    write: (line) => {
      lines.push(line);
      characters += line.length;
      if (wasQuiet || characters > MAX_BUFFERED_CHARACTERS) flush();
    },
  };
}

function dropWarning(dropped: number): string {
  const time = stdTimeFunctions.isoTime();
  return `{"level":"warn"${time},"dropped":${dropped},"msg":"log lines were dropped, because nothing read the log"}\n`;
}
