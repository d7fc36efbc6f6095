import { type DestinationStream, type LogFn, type Logger, type LoggerOptions, pino, stdTimeFunctions } from 'pino';
import { framesOf } from '../errors.ts';
import { bufferLines } from './log-buffer.ts';

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
  'ms',
  'operation',
  'outcomes',
  'policy',
  'problems',
  'reason',
  'region',
  'requestId',
  'service',
  'status',
  'tokens',
  'traceId',
  'upstreamCalls',
  'upstreamMs',
  'upstreams',
  'url',
]);

/** The options of pino. A line has its time and allowed fields only, and of an error only its name and stack frames. */
export const LOGGER_OPTIONS: LoggerOptions = {
  base: null,
  timestamp: stdTimeFunctions.isoTime,
  formatters: {
    level: (level) => ({ level }),
    log: onlyAllowedFields,
  },
  hooks: {
    // Without this, pino would use the message of an error as the message of the line.
    logMethod(args, method) {
      // Sound: each argument keeps its position.
      method.apply(this, args.map(withoutErrorMessages) as Parameters<LogFn>);
    },
  },
};

interface LogOptions {
  readonly level: string;
  /** Writes lines for people instead of JSON, if pino-pretty is installed. */
  readonly pretty: boolean;
}

/** A logger that writes to stdout. Each call chooses what it logs: never a request, a response or a header. */
export async function createLogger({ level, pretty }: LogOptions): Promise<Logger> {
  const stream = (pretty && (await openPrettyStream())) || bufferLines(process.stdout, process.stderr);
  return pino({ ...LOGGER_OPTIONS, level }, stream);
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
