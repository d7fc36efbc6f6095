import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { loggerOptions } from '../../src/observability/logger.ts';
import { warmUp } from '../../src/warm-up/warm-up.ts';
import { DEFAULTS } from '../support/app.ts';

/** What the warm-up leaves behind in a process: nothing, whether it succeeds or not. */

/** An address for documentation (RFC 5737), which no machine has. */
const NOT_THIS_MACHINE = '192.0.2.1';

const opened = () => process.getActiveResourcesInfo().filter((kind) => /TCP|Pipe/.test(kind)).length;

async function warmUpWith(options: Parameters<typeof warmUp>[2]): Promise<string[]> {
  const lines: string[] = [];
  await warmUp(DEFAULTS, pino(loggerOptions(), { write: (line: string) => lines.push(line) }), options);
  return lines.map((line) => JSON.parse(line)).map(({ level, msg }) => `${level}: ${msg}`);
}

const FAILED = 'warn: the warm-up failed; the first requests may be slow';

test.each([
  ['that succeeds logs nothing', {}, []],
  ['that cannot listen logs it', { host: NOT_THIS_MACHINE }, [FAILED]],
  ['that takes too long logs it', { limitMs: 0 }, [FAILED]],
])('a warm-up %s, and closes every socket', async (_what, options, expected) => {
  const before = opened();
  expect(await warmUpWith(options)).toEqual(expected);
  await vi.waitFor(() => expect(opened()).toBe(before));
});
