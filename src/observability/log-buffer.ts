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
 * says how many. When a write fails, its lines are dropped as well, and the log continues on the other stream. No error of
 * either stream ends the process.
 */
export function bufferLines(stream: Writable, fallback: Writable): { write(line: string): void } {
  let target = stream;
  let lines: string[] = [];
  let characters = 0;
  let dropped = 0;
  let wasQuiet = true;
  const writeBatch = () => {
    const [usedStream, count] = [target, dropped + lines.length];
    const text = (dropped > 0 ? dropWarning(dropped) : '') + lines.join('');
    dropped = 0;
    usedStream.write(text, (error) => {
      if (!error) return;
      dropped += count;
      // Tried in turn, because either may work again: a disk that was full gets space.
      if (target === usedStream) target = usedStream === stream ? fallback : stream;
    });
  };
  const flush = () => {
    if (target.writableLength > MAX_PENDING_BYTES) dropped += lines.length;
    else if (lines.length > 0 || dropped > 0) writeBatch();
    wasQuiet = lines.length === 0;
    lines = [];
    characters = 0;
  };
  setInterval(flush, FLUSH_INTERVAL_MS).unref();
  process.on('exit', flush);
  // Without a listener, an error of a stream is an uncaught one. The write that failed has handled it.
  for (const each of [stream, fallback]) each.on('error', () => {});
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
  return `{"level":"warn"${time},"dropped":${dropped},"msg":"log lines were dropped, because they could not be written"}\n`;
}
