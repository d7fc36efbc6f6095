import { createHmac, randomBytes } from 'node:crypto';
import type { Writable } from 'node:stream';
import { type DestinationStream, type LogFn, type Logger, type LoggerOptions, pino } from 'pino';
import { framesOf } from '../errors.ts';
import { propertiesOf } from '../runtime/json.ts';

/** The only fields of a line: all others are left out, so that a forgotten `{ token }` is no leak. */
const ALLOWED_FIELDS: ReadonlySet<string> = new Set(
  `
    account before caller cause client clientVersion code decision error errors field flaws health internal
    leftOut ms operation outcomes peer person policy proceed reason region rule requestId sample service shadow
    status tokens traceId upstreamCalls upstreamMs upstreams url
  `.match(/\w+/g),
);

type Fields = Readonly<Record<string, unknown>>;

/** A logger to stdout; `pretty` is human-readable, if pino-pretty is installed. No call logs a request or a header. */
export async function createLogger({ level, pretty }: { level: string; pretty: boolean }): Promise<Logger> {
  const limit = new RepeatLimit();
  // Registered before the buffer's listener, so that the buffer gets the last counts.
  process.on('exit', () => limit.flush());
  const stream = (pretty && (await openPrettyStream())) || bufferLines(process.stdout);
  return pino({ ...loggerOptions(limit), level }, stream);
}

async function openPrettyStream(): Promise<DestinationStream | undefined> {
  try {
    const { default: prettyStream } = await import('pino-pretty');
    return prettyStream({ colorize: process.stdout.isTTY, sync: true });
  } catch (error) {
    if (propertiesOf(error)['code'] !== 'ERR_MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}

/** The options of a pino logger. A line has only its time and the allowed fields; of an error, only the name and stack frames. */
export function loggerOptions(limit = new RepeatLimit()): LoggerOptions {
  return {
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level) => ({ level }) },
    hooks: {
      logMethod(args, method, level) {
        // Safe: each argument keeps its position.
        const write = (line: readonly unknown[]) => method.apply(this, line as Parameters<LogFn>);
        const line = args.map(safe);
        const { info, warn } = pino.levels.values;
        if (level === info || level === warn) limit.write(line, write);
        else write(line);
      },
    },
  };
}

/** The part of an argument that may be logged. The message of an error may quote a caller. */
function safe(argument: unknown): unknown {
  if (argument instanceof Error) return { error: framesOf(argument) };
  return typeof argument === 'object' && argument !== null ? allowed(propertiesOf(argument)) : argument;
}

function allowed(fields: Fields): Fields {
  const line: Record<string, unknown> = {};
  for (const name in fields) {
    const value = fields[name];
    if (ALLOWED_FIELDS.has(name)) line[name] = value instanceof Error ? framesOf(value) : value;
  }
  return line;
}

/** Like `log.info(fields, 'operation')` in a third of the time, but without the limit of repeats. Leaves out undefined fields. */
export function writeOperation(log: Logger, fields: Fields): void {
  if (!log.isLevelEnabled('info')) return;
  // Safe: pino documents that a logger keeps its stream under this symbol, which its type leaves out.
  const stream = (log as unknown as Record<symbol, DestinationStream>)[pino.symbols.streamSym];
  const text = JSON.stringify(allowed(fields)).slice(1, -1);
  stream?.write(`{"level":"info"${pino.stdTimeFunctions.isoTime()},${text},"msg":"operation"}\n`);
}

const MAX_CAUSES = 64;

/** Logs each cause once in this process, and at most `MAX_CAUSES` of them. */
export function logOnce(log: Logger, message: string): (cause: string) => void {
  const logged = new Set<string>();
  return (cause) => {
    if (logged.has(cause) || logged.size >= MAX_CAUSES) return;
    logged.add(cause);
    log.warn({ cause }, message);
  };
}

/** How many lines of one cause are written in a window, and the length of the window, in ms. */
const LINES_PER_CAUSE = 10;
const WINDOW_MS = 1_000;

/**
 * Limits the lines at `info` and `warn` of one cause in a second: in an outage each operation writes a line. A cause is the
 * message with `account`, `cause` and `field`, which no caller controls. A last line of each cause counts the lines left out.
 */
export class RepeatLimit {
  readonly #counts = new Map<string, { seen: number; readonly report: (leftOut: number) => void }>();
  #timer: NodeJS.Timeout | undefined;

  write(line: readonly unknown[], write: (line: readonly unknown[]) => void): void {
    const { account, cause, field } = propertiesOf(line[0]);
    const message = line.find((argument) => typeof argument === 'string');
    const key = JSON.stringify([message, account, cause, field]);
    const report = (leftOut: number) => write([{ account, cause, field, leftOut }, message]);
    const count = this.#counts.get(key) ?? { seen: 0, report };
    this.#counts.set(key, count);
    // A window begins with its first line, so that a quiet process has no timer.
    this.#timer ??= setTimeout(() => this.flush(), WINDOW_MS).unref();
    count.seen += 1;
    if (count.seen <= LINES_PER_CAUSE) write(line);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const counts = [...this.#counts.values()];
    this.#counts.clear();
    for (const { seen, report } of counts) if (seen > LINES_PER_CAUSE) report(seen - LINES_PER_CAUSE);
  }
}

/** Docker and containerd split a longer line, and no piece of it is JSON. */
const MAX_LINE_BYTES = 16_384;

/** A line of at most `MAX_LINE_BYTES`: a longer one has half of its longest value, as text, until it fits. */
function shortened(line: string): string {
  if (Buffer.byteLength(line) <= MAX_LINE_BYTES) return line;
  const fields: Record<string, unknown> = JSON.parse(line);
  const [[name, text] = ['', '']] = Object.entries(fields)
    .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const)
    .sort(([, one], [, other]) => other.length - one.length);
  return shortened(`${JSON.stringify({ ...fields, [name]: `${text.slice(0, text.length / 2)}…` })}\n`);
}

/** The buffer is written at this many characters, or after this many ms. */
const [MAX_BUFFERED_CHARACTERS, FLUSH_INTERVAL_MS] = [16 * 1024, 100];
/** Lines that a pipe does not take wait in memory. When this many bytes wait, further lines are dropped. */
const MAX_PENDING_BYTES = 1024 * 1024;

/** The lines dropped in this process so far. */
let allDropped = 0;
export const linesDropped = () => allDropped;

/** Writes lines in batches, and the rest at the exit. Lines that the stream does not take are dropped and counted. */
export function bufferLines(stream: Writable): { write(line: string): void } {
  let lines = 0;
  let text = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const count = lines;
    if (stream.writableLength > MAX_PENDING_BYTES) allDropped += count;
    else if (count > 0)
      stream.write(text, (error) => {
        if (error) allDropped += count;
      });
    lines = 0;
    text = '';
  };
  process.on('exit', flush);
  return {
    write: (line) => {
      lines += 1;
      text += shortened(line);
      if (text.length > MAX_BUFFERED_CHARACTERS) flush();
      else timer ??= setTimeout(flush, FLUSH_INTERVAL_MS).unref();
    },
  };
}

export type LogHash = ReturnType<typeof createLogHash>;

/** Makes the function that hashes texts for the log: 12 hex digits of HMAC-SHA256. By default each process has a key of its own. */
export function createLogHash(key: string | Buffer = randomBytes(32)) {
  return (text: string) => createHmac('sha256', key).update(text).digest('hex').slice(0, 12);
}
