import { type DestinationStream, type Logger, pino } from 'pino';

/** The log line of an operation. A field that is undefined is left out. */
export interface OperationLine {
  readonly requestId: string;
  readonly traceId: string | undefined;
  readonly caller: string;
  readonly operation: string | undefined;
  readonly client: string | undefined;
  readonly clientVersion: string | undefined;
  /** How often each type of outcome was answered. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Codes. */
  readonly errors: readonly string[] | undefined;
  readonly upstreamCalls: number;
  readonly upstreamMs: number;
  readonly ms: number;
  /** The share of such operations that write a line; undefined if all do. */
  readonly sample: number | undefined;
  /** Hashes of the tokens. */
  readonly tokens: readonly string[] | undefined;
}

/**
 * Writes the line of an operation at info, the same byte for byte as `log.info(line, 'operation')`. Every operation writes one, so
 * it does without what the logger does for any other line: it drops unknown fields and messages of errors, and writes field
 * by field. The type allows neither here.
 */
export function writeOperation(log: Logger, line: OperationLine): void {
  if (!log.isLevelEnabled('info')) return;
  const fields = JSON.stringify(line).slice(1, -1);
  streamOf(log).write(`{"level":"info","time":"${isoTime(Date.now())}",${fields},"msg":"operation"}\n`);
}

let lastMs = Number.NaN;
let lastTime = '';

/**
 * The time as the logger writes it. Under load many lines have the same one, so it is kept: to write it takes as long as to
 * write the rest of a line.
 */
function isoTime(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms;
    lastTime = new Date(ms).toISOString();
  }
  return lastTime;
}

function streamOf(log: Logger): DestinationStream {
  // Sound: pino documents that a logger keeps its stream under this symbol, and leaves it out of its type.
  return (log as unknown as Record<typeof pino.symbols.streamSym, DestinationStream>)[pino.symbols.streamSym];
}
