import fc from 'fast-check';
import { type Logger, pino } from 'pino';
import { expect, test } from 'vitest';
import { loggerOptions, RepeatLimit, writeOperation } from '../../src/observability/logger.ts';
import { times } from '../support/times.ts';

/** What a log line may have in it, the line of an operation, and how many lines of one cause are written. */

const CANARY = 'tok_canary_9f8e7d';

function startLog(level = 'trace') {
  const lines: string[] = [];
  return { log: pino({ ...loggerOptions(), level }, { write: (line: string) => lines.push(line) }), lines };
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

/** It is not written by pino, and has to be what pino would write. */
// Lone surrogates, control characters and what would break a line are among them.
const text = fc.string({ unit: 'binary', maxLength: 80 });
const value = fc.oneof(text, fc.double({ noNaN: true }), fc.array(text), fc.constant(undefined));
const fields = ['requestId', 'traceId', 'operation', 'errors', 'ms', 'tokens', 'token', 'headers'];
const line = fc.dictionary(fc.constantFrom(...fields), value, { noNullPrototype: true }).map((others) => ({
  caller: 'anyone',
  ...others,
  outcomes: { DeviceFingerprint: 1 },
}));

test('the line of an operation is the same byte for byte, and has allowed fields alone', () => {
  fc.assert(
    fc.property(line, (fields) => {
      const { log, lines } = startLog('info');
      writeOperation(log, fields);
      log.info(fields, 'operation');
      const [ours, theirs] = lines.map((written) => written.replace(/(?<="time":")[^"]{24}(?=")/, ''));
      expect(ours).toBe(theirs);
      expect(ours).not.toMatch(/"(token|headers)":/);
    }),
    { numRuns: 500 },
  );
});

test.each(['warn', 'error', 'silent'])('the line of an operation is not there at level %s', (level) => {
  const { log, lines } = startLog(level);
  writeOperation(log, { caller: 'anyone' });
  expect(lines).toEqual([]);
});

/** What `act` writes until the window has ended. */
function written(act: (log: Logger) => void, limit = new RepeatLimit()) {
  const lines: string[] = [];
  act(pino(loggerOptions(limit), { write: (line: string) => lines.push(line) }));
  limit.flush();
  return lines.map((line) => JSON.parse(line));
}

test('the limit of warnings for one cause is ten lines in each window, and one that counts the rest', () => {
  const limit = new RepeatLimit();
  const warn = (log: Logger) => {
    // A caller can choose parts of other fields. They make no further causes, but the first lines show them.
    for (const [account, count] of [
      ['a', 1_000],
      ['b', 10],
      ['c', 11],
    ] as const)
      for (const at of times(count, String)) log.warn({ account, internal: at, requestId: at }, 'a line');
  };
  const ten = (account: string) =>
    times(10, (at) => expect.objectContaining({ account, internal: `${at}`, requestId: `${at}`, msg: 'a line' }));
  const { time, level } = { time: expect.any(String), level: 'warn' };
  for (const _window of [1, 2])
    expect(written(warn, limit)).toEqual([
      ...[...ten('a'), ...ten('b'), ...ten('c')],
      { level, time, account: 'a', leftOut: 990, msg: 'a line' },
      { level, time, account: 'c', leftOut: 1, msg: 'a line' },
    ]);
});

test('the limit of warnings for one cause hides no failure of another field', () => {
  const lines = written((log) => {
    for (const internal of times(50, String)) log.warn({ internal, field: 'deviceFingerprint' }, 'a line');
    log.warn({ internal: 'of a captcha', field: 'validateCaptcha' }, 'a line');
  });
  expect(lines).toContainEqual(expect.objectContaining({ internal: 'of a captcha' }));
  expect(lines.at(-1)).toMatchObject({ field: 'deviceFingerprint', leftOut: 40 });
});

test('the limit of warnings for one cause leaves out no error, however many lines there are', () => {
  const lines = written((log) => {
    for (const internal of times(250, String)) log.warn({ internal }, 'a line');
    for (const internal of times(50, String)) log.error({ internal }, 'a line');
  });
  expect(lines.filter(({ level }) => level === 'error')).toHaveLength(50);
});
