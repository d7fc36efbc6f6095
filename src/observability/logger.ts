import { type Logger, pino } from 'pino';

/** JSON lines on stdout. What is logged is chosen at each call; nothing ever logs a request, an answer or a header. */
export function createLogger(): Logger {
  return pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime });
}
