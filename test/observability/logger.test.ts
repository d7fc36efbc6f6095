import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { loggerOptions } from '../../src/observability/logger.ts';

/** A log line has allowed fields alone, and no message of an error. */

const CANARY = 'tok_canary_9f8e7d';

function startLog() {
  const lines: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  return { log: pino({ ...loggerOptions(), level: 'trace' }, sink), lines };
}

test.each(['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const)(
  'a line at %s has allowed fields alone',
  (level) => {
    const { log, lines } = startLog();
    log[level](
      { token: CANARY, headers: { authorization: CANARY }, variables: [CANARY], err: new Error(CANARY), ms: 5 },
      'a line',
    );
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { level, time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/), ms: 5, msg: 'a line' },
    ]);
  },
);

test.each<[string, (log: ReturnType<typeof startLog>['log'], error: Error) => void]>([
  ['without a message', (log, error) => log.error(error)],
  ['with a message', (log, error) => log.error(error, 'a line')],
  ['as a value in a message', (log, error) => log.error('a line about %s', error)],
  ['as a field', (log, error) => log.error({ error })],
  ['as the field err', (log, error) => log.error({ err: error })],
])('an error that is logged %s has a name and frames at most, and no message', (_how, write) => {
  const { log, lines } = startLog();
  write(log, Object.assign(new TypeError(CANARY, { cause: new Error(CANARY) }), { input: CANARY }));
  expect(lines).toHaveLength(1);
  const { level, error } = JSON.parse(lines[0] ?? '');
  expect(level).toBe('error');
  if (error) expect(error).toEqual({ name: 'TypeError', frames: expect.arrayContaining([expect.any(String)]) });
  expect(lines[0]).not.toContain(CANARY);
});

test('no line of an error message is taken for a frame, even if it looks like one', () => {
  const { log, lines } = startLog();
  log.error(new Error(`first line\n    at ${CANARY} (/nowhere.ts:1:1)\n    at ${CANARY}`), 'a line');
  expect(JSON.parse(lines[0] ?? '').error.frames.length).toBeGreaterThan(1);
  expect(lines[0]).not.toContain(CANARY);
});
