import { type DestinationStream, type LogFn, type Logger, type LoggerOptions, pino } from 'pino';
import { framesOf } from '../errors.ts';
import { bufferLines } from './log-buffer.ts';
import { isoTime } from './log-time.ts';

/**
 * Everything that may stand in a log line. What is not named here is left out, wherever it comes from: a forgotten
 * `{ token }` in a call to the logger stays a mistake and does not become a leak.
 */
const ALLOWED: ReadonlySet<string> = new Set([
  'breaker',
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
  'internal',
  'ms',
  'operation',
  'outcomes',
  'problems',
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

interface LogOptions {
  readonly level: string;
  /** Lines for people instead of JSON, where the development packages are installed. */
  readonly pretty: boolean;
}

/** Lines on stdout. What is logged is chosen at each call; nothing ever logs a request, an answer or a header. */
export async function createLogger({ level, pretty }: LogOptions): Promise<Logger> {
  const stream = pretty ? await openPretty() : undefined;
  return stream
    ? pino({ ...LINE, level }, stream)
    : pino({ ...LINE, level }, bufferLines(process.stdout, process.stderr));
}

async function openPretty(): Promise<DestinationStream | undefined> {
  try {
    const { default: prettyStream } = await import('pino-pretty');
    return prettyStream({ colorize: process.stdout.isTTY, sync: true });
  } catch (error) {
    if (Object(error).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}

function withoutStrangers(fields: Record<string, unknown>): Record<string, unknown> {
  for (const name in fields) {
    if (!ALLOWED.has(name)) return Object.fromEntries(Object.entries(fields).filter(([key]) => ALLOWED.has(key)));
  }
  return fields;
}

/** How a line is made, whoever reads it. */
export const LINE: LoggerOptions = {
  base: null,
  timestamp: isoTime,
  formatters: {
    level: (level) => ({ level }),
    log: withoutStrangers,
  },
  hooks: {
    // Left to itself, pino takes the message of an error for the line's.
    logMethod(args, method) {
      // Sound: what is passed on has the places of what came in.
      method.apply(this, args.map(withoutWords) as Parameters<LogFn>);
    },
  },
};

/** An error, or fields with errors among them, with no more of each than where it came from. */
function withoutWords(argument: unknown): unknown {
  if (argument instanceof Error) return { error: framesOf(argument) };
  if (typeof argument !== 'object' || argument === null) return argument;
  // Sound: an object can be asked for any property.
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
