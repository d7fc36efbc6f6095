import { type Logger, type LoggerOptions, pino } from 'pino';

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

export interface LogOptions {
  readonly level: string;
  /** Lines for people instead of JSON; only where the development packages are installed. */
  readonly pretty: boolean;
}

/** Lines on stdout. What is logged is chosen at each call; nothing ever logs a request, an answer or a header. */
export async function createLogger({ level, pretty }: LogOptions): Promise<Logger> {
  if (!pretty) return pino({ ...LINE, level }, pino.destination(BUFFERED));
  const { default: prettyStream } = await import('pino-pretty');
  return pino({ ...LINE, level }, prettyStream({ colorize: process.stdout.isTTY, sync: true }));
}

/** A line for each operation, written one by one, would be a good part of an operation. What is left is written on exit. */
const BUFFERED = { dest: 1, sync: false, minLength: 8 * 1024, periodicFlush: 100 };

/** How a line is made, whoever reads it. */
export const LINE: LoggerOptions = {
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  formatters: {
    level: (level) => ({ level }),
    log: (fields) => Object.fromEntries(Object.entries(fields).filter(([name]) => ALLOWED.has(name))),
  },
};
