import { type DestinationStream, type LogFn, type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino';
import { framesOf } from '../errors.ts';
import { bufferLines } from './log-buffer.ts';
import { RepeatLimit } from './repeat-limit.ts';

/**
 * The only fields of a log line. The logger leaves out every other field, so that a forgotten `{ token }` in a call to it
 * does not become a leak.
 */
const ALLOWED_FIELDS: ReadonlySet<string> = new Set([
  'account',
  'before',
  'caller',
  'captchaId',
  'cause',
  'client',
  'clientVersion',
  'code',
  'dropped',
  'error',
  'errors',
  'field',
  'flaws',
  'health',
  'internal',
  'leftOut',
  'ms',
  'operation',
  'outcomes',
  'policy',
  'problems',
  'reason',
  'region',
  'requestId',
  'sample',
  'service',
  'status',
  'tokens',
  'traceId',
  'upstreamCalls',
  'upstreamMs',
  'upstreams',
  'url',
]);

/**
 * The options of a pino. A line has its time and allowed fields only, and of an error only its name and stack frames.
 *
 * @param limit limits the lines at warn and error; each logger has its own
 */
export function loggerOptions(limit = new RepeatLimit()): LoggerOptions {
  return {
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    formatters: {
      level: (level) => ({ level }),
      log: onlyAllowedFields,
    },
    hooks: {
      // Without this, pino would use the message of an error as the message of the line.
      logMethod(args, method, level) {
        const line = args.map(withoutErrorMessages);
        // Sound: each argument keeps its position.
        const write = (safe: unknown[]) => method.apply(this, safe as Parameters<LogFn>);
        const isLimited = level === WARN || level === ERROR;
        if (!isLimited || limit.admits(causeOf(level, line), reporterOf(line, write))) write(line);
      },
    },
  };
}

const { warn: WARN = 0, error: ERROR = 0 } = pino.levels.values;

/** The same for lines that differ in nothing but the request that they are about. */
function causeOf(level: number, line: readonly unknown[]): string {
  return JSON.stringify([level, line.map(withoutRequest)]);
}

/** Writes how many lines like this one were left out. */
function reporterOf(line: readonly unknown[], write: (line: unknown[]) => void) {
  return (leftOut: number, isMixed: boolean) => {
    const [fields, message] = typeof line[0] === 'string' ? [{}, line[0]] : [withoutRequest(line[0]), line[1]];
    if (isMixed) write([{ leftOut }, 'lines of many different causes were left out']);
    else write([{ ...Object(fields), leftOut }, message]);
  };
}

function withoutRequest(argument: unknown): unknown {
  if (typeof argument !== 'object' || argument === null || !('requestId' in argument)) return argument;
  const { requestId: _, ...fields } = argument;
  return fields;
}

interface LogOptions {
  readonly level: string;
  /** Writes lines for people instead of JSON, if pino-pretty is installed. */
  readonly pretty: boolean;
}

/** A logger that writes to stdout. Each call chooses what it logs: never a request, a response or a header. */
export async function createLogger({ level, pretty }: LogOptions): Promise<Logger> {
  const limit = new RepeatLimit();
  // Before the buffer's own listener, so that the last counts get into it.
  process.on('exit', () => limit.flush());
  const stream = (pretty && (await openPrettyStream())) || bufferLines(process.stdout, process.stderr);
  return pino({ ...loggerOptions(limit), level }, stream);
}

async function openPrettyStream(): Promise<DestinationStream | undefined> {
  try {
    const { default: prettyStream } = await import('pino-pretty');
    return prettyStream({ colorize: process.stdout.isTTY, sync: true });
  } catch (error) {
    if (Object(error).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}

function onlyAllowedFields(fields: Record<string, unknown>): Record<string, unknown> {
  // Almost every line has allowed fields alone, and then no copy is made.
  for (const name in fields) {
    if (!ALLOWED_FIELDS.has(name)) {
      return Object.fromEntries(Object.entries(fields).filter(([field]) => ALLOWED_FIELDS.has(field)));
    }
  }
  return fields;
}

/** An argument of a log call. Each error in it is replaced by its name and stack frames; its message may quote a caller. */
function withoutErrorMessages(argument: unknown): unknown {
  if (argument instanceof Error) return { error: framesOf(argument) };
  if (typeof argument !== 'object' || argument === null) return argument;
  // Sound: any property of an object can be read.
  const fields = argument as Record<string, unknown>;
  for (const name in fields) if (fields[name] instanceof Error) return withFrames(fields);
  return fields;
}

function withFrames(fields: Record<string, unknown>): Record<string, unknown> {
  const framed = Object.entries(fields).map(([name, value]) => [
    name,
    value instanceof Error ? framesOf(value) : value,
  ]);
  return Object.fromEntries(framed);
}
